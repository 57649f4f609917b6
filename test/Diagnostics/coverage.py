"""coverage.py ROOT: every kind of Kinds.def has a page and a test that expects it.

The unit tests of Syntax and Sema provoke their own kinds (E01xx; E02xx, E030x to E033x, E07xx, W05xx) and fail for one that is
missing. Of the others a lit test expects the code: on a line with CHECK or another prefix of FileCheck, or expected-error.
"""
import glob
import os
import re
import sys

ROOT = sys.argv[1]
OWN_TESTS = re.compile(r"E01|E02|E03[0-3]|E07|W05")
# Kinds that no input of the tools leads to, and why they exist.
UNREACHABLE = {"E0009": "semantic analysis refuses before what IR generation refuses"}
KIND = re.compile(r"TILEC_(?:ERROR|WARNING)\((\w+),\s*([EW]\d{4})")
EXPECTED = re.compile(r"(?:[A-Z][A-Z0-9_-]*:|expected-(?:error|warning)).*?\b([EW]\d{4})\b")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


kinds = KIND.findall(read(os.path.join(ROOT, "include", "tilec", "Diagnostics", "Kinds.def")))
expected = set()
for kind in ("tile", "mlir", "test"):
    for path in glob.glob(os.path.join(ROOT, "test", "**", "*." + kind), recursive=True):
        expected.update(m.group(1) for line in read(path).splitlines() for m in EXPECTED.finditer(line)
                        if "RUN:" not in line)
faults = []
for name, code in kinds:
    if not os.path.exists(os.path.join(ROOT, "docs", "diagnostics", code + ".md")):
        faults.append(f"{name} has no page docs/diagnostics/{code}.md")
    if not OWN_TESTS.match(code) and (code in expected) == (code in UNREACHABLE):
        faults.append(f"{name} is not unreachable" if code in expected else f"no test expects {code} ({name})")
print("\n".join(faults))
print(f"{len(kinds)} kinds, {len(faults)} faults")
sys.exit(1 if faults or not kinds else 0)
