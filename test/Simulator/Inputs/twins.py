"""twins.py TILE-RUN FOLDER: every PTX file of the folder has the fault that it names, under every schedule that its
FAULT line allows, and none with the lines behind `// FIX: ` in place."""
import os
import re
import subprocess
import sys
import tempfile

SEEDS = range(1, 4)


def run(program, path, schedule, seed):
    return subprocess.run([program, "--ptx", path, f"--schedule={schedule}", f"--seed={seed}"], capture_output=True,
                          text=True)


def main():
    program, folder = sys.argv[1:]
    failed = 0
    for name in sorted(f for f in os.listdir(folder) if f.endswith(".ptx")):
        path = os.path.join(folder, name)
        with open(path) as f:
            text = f.read()
        fixed = re.sub(r".*FAULT:.*\n", "", text.replace("// FIX: ", ""))
        done = run(program, path, "late", 1)
        if done.returncode:
            print(f"{name}: the fault is not found: {done.stderr}{done.stdout}")
            failed += 1
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as twin:
            twin.write(fixed)
            twin.flush()
            for schedule in ("late", "early", "random"):
                for seed in SEEDS:
                    done = run(program, twin.name, schedule, seed)
                    if done.returncode:
                        print(f"{name}: the corrected twin fails, {schedule} {seed}: {done.stderr}{done.stdout}")
                        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
