"""operations.py PAGE OPS.td: the Rationale page of a dialect has a row for every operation, and for no other."""
import re
import sys


def main():
    page, definitions = (open(path).read() for path in sys.argv[1:3])
    # `def X_FooOp : X_Op<"foo", ...>`, or the instance of a class of operations.
    defined = set(re.findall(r'^def \w+Op : \w+<"(\w+)"', definitions, re.MULTILINE))
    table = page.split("## The operations")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    for name in sorted(defined ^ explained):
        print(f"{name}: " + ("has no row" if name in defined else "is not an operation"))
    return 1 if defined != explained or not defined else 0


if __name__ == "__main__":
    sys.exit(main())
