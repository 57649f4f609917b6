"""headers.py ROOT TILEC CC CXX INCLUDE: the header of every example compiles as C99 and C++17 without a warning."""
import glob
import os
import subprocess
import sys
import tempfile

ROOT, TILEC, CC, CXX, INCLUDE = sys.argv[1:]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I" + INCLUDE]
sources = sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.tile")))
failed = 0
with tempfile.TemporaryDirectory() as folder:
    for source in sources:
        header = os.path.join(folder, os.path.basename(source)[:-5] + ".h")
        user = os.path.join(folder, "user.c")
        with open(user, "w") as f:
            f.write(f'#include "{header}"\n')
        commands = [[TILEC, source, "-o", header], [CC, "-std=c99", *WARNINGS, user],
                    [CXX, "-x", "c++", "-std=c++17", *WARNINGS, user]]
        if any(subprocess.run(command).returncode for command in commands):
            failed += 1
            print(f"the header of {source} is not right")
print(f"{len(sources)} headers, {failed} failed")
sys.exit(1 if failed or not sources else 0)
