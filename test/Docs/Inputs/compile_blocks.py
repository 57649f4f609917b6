"""compile_blocks.py TILEC PAGE...: compiles the examples of Markdown pages, code blocks that begin with ```tile.

A block alone must compile for every target without a diagnostic. `tile error=E0241` must be refused with that code,
`tile warning=W0501` must compile with that warning.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TARGETS = ("sm_90a", "sm_80")


def blocks(page):
    """(line, words after `tile`, text) of every example of a page."""
    with open(page) as file:
        text = file.read()
    for match in re.finditer(r"^```tile\b(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match.group(1).split(), match.group(2)


def diagnostics(tilec, source, arch, folder):
    """(exit status, codes) of one compilation to PTX."""
    command = [tilec, source, f"--arch={arch}", "--emit=ptx", "-o", os.path.join(folder, f"{arch}.ptx"),
               "--diagnostics-format=json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = json.loads(done.stderr) if done.stderr.strip() else []
    return done.returncode, sorted({d["code"] for d in found if "code" in d})


def fault(tilec, words, text):
    """None, or what is wrong with an example."""
    expected = dict(word.split("=") for word in words)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "example.tile")
        with open(source, "w") as file:
            file.write(text)
        for arch in TARGETS:
            status, codes = diagnostics(tilec, source, arch, folder)
            wanted = sorted(expected.values())
            if status != (1 if "error" in expected else 0) or codes != wanted:
                return f"{arch}: exit status {status}, diagnostics {codes}, expected {wanted}"
    return None


def main():
    tilec, pages = sys.argv[1], sys.argv[2:]
    examples = [(page, *block) for page in pages for block in blocks(page)]
    with ThreadPoolExecutor(2) as pool:
        faults = list(pool.map(lambda e: fault(tilec, e[2], e[3]), examples))
    for (page, line, _, _), message in zip(examples, faults):
        if message:
            print(f"{os.path.basename(page)}:{line}: {message}")
    print(f"{len(examples)} examples, {sum(f is not None for f in faults)} wrong")
    return 1 if any(faults) or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
