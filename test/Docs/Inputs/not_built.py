"""not_built.py PAGE NotBuilt.def: the table of the page lists what the compiler refuses as not built, no more, no less."""
import re
import sys


def main():
    page, definitions = (open(path).read() for path in sys.argv[1:3])
    refused = set(re.findall(r'^TILEC_NOT_(?:BUILT|COMPILED)\("[^"]*", "(.*)"\)$', definitions, re.MULTILINE))
    table = page.split("<!-- not built -->")[1].split("<!-- end -->")[0]
    listed = set(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)) - {"part"}
    for text in sorted(refused - listed):
        print(f"the table lacks: {text}")
    for text in sorted(listed - refused):
        print(f"built, or never refused; remove it from the table: {text}")
    return 1 if refused != listed else 0


if __name__ == "__main__":
    sys.exit(main())
