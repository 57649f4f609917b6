"""options.py TILEC PAGE: fails if the manual page misses an option of `tilec --help`, or has one that is not there."""
import re
import subprocess
import sys

# CLI11 has no options of several letters after one dash; these have them on the command line.
RENAMED = {"--MD": "-MD", "--MF": "-MF", "--MT": "-MT", "--MP": "-MP", "--ffile-prefix-map": "-ffile-prefix-map"}


def listed_options(tilec):
    text = subprocess.run([tilec, "--help"], check=True, capture_output=True, text=True).stdout
    heads = re.findall(r"^  (-\S+)", text, re.MULTILINE)
    return {RENAMED.get(option, option) for head in heads for option in head.split(",")}


def documented_options(page):
    with open(page) as file:
        entries = re.findall(r"^\.TP\n\.B\w? (.*)$", file.read(), re.MULTILINE)
    text = "\n".join(entries).replace("\\-", "-")
    return set(re.findall(r"(?:^|[ \n])(-(?:-[a-z][a-z-]*|ffile-prefix-map|M[A-Z]?|[a-zA-Z]))", text))


def main():
    listed, documented = listed_options(sys.argv[1]), documented_options(sys.argv[2])
    for option in sorted(listed - documented):
        print("the manual page misses", option)
    for option in sorted(documented - listed):
        print("tilec has no", option)
    return listed != documented


if __name__ == "__main__":
    sys.exit(main())
