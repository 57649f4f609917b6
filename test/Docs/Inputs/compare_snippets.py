"""compare_snippets.py TILEC SOURCE PAGE: the IR of a page is what the compiler prints.

A code block after `<!-- after STEP -->` is compared with the module after the step: its lines must occur in order. `...`
stands for any text, and the numbers of values do not matter.
"""
import re
import subprocess
import sys


def normalise(line):
    return re.sub(r"%(arg|c|cst_|c0_)?\d+(_\d+)?", "%", line.strip())


def missing(snippet, module):
    """The first line of a snippet that does not follow, or None."""
    lines = iter([normalise(line) for line in module.splitlines()])
    for line in snippet.splitlines():
        parts = [re.escape(part) for part in normalise(line).split("...")]
        pattern = re.compile(".*?".join(parts) + "$")
        if not any(pattern.match(candidate) for candidate in lines):
            return line.strip()
    return None


def main():
    tilec, source, page = sys.argv[1:4]
    with open(page) as file:
        blocks = re.findall(r"^<!-- after (\S+) -->\n```mlir\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    faults = 0
    for step, snippet in blocks:
        module = subprocess.run([tilec, source, f"--stop-after={step}", "-o", "-"], capture_output=True, text=True,
                                check=True).stdout
        line = missing(snippet, module)
        if line:
            faults += 1
            print(f"after {step} there is no line: {line}")
    print(f"{len(blocks)} snippets, {faults} wrong")
    return 1 if faults or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
