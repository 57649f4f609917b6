"""mutations.py TILEC TILE-RUN SOURCE KERNEL RESULT ARGUMENT...: deletes each barrier, wait, arrival, fence and transfer of
the kernel's PTX for sm_90a in turn. The simulator must report a fault or give another result, with asynchronous work that
completes late, early or at random moments."""
import os
import re
import subprocess
import sys
import tempfile

MUTABLE = re.compile(r"(bar\.|mbarrier\.|wgmma\.(fence|commit|wait)|fence\.|cp\.async|cp\.reduce)")
SCHEDULES = ("late", "early", "random")


def simulate(runner, ptx, base, *options):
    command = [runner, "--simulate", "--ptx", ptx, *base, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def entry_lines(lines, output):
    """Numbers of the lines of the entry that a run without -q names first."""
    name = output.split(":")[0].strip()
    begin = next(i for i, line in enumerate(lines) if f".entry {name}(" in line)
    end = next((i for i in range(begin + 1, len(lines)) if ".entry" in lines[i]), len(lines))
    return range(begin, end)


def main():
    tilec, runner, source, kernel, result, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for form in ("ptx", "json"):
            subprocess.run([tilec, source, "--arch=sm_90a", f"--emit={form}", "-o", path("k." + form)], check=True)
        base = ["--json", path("k.json"), f"--kernel={kernel}", *arguments]
        status, output = simulate(runner, path("k.ptx"), base, "--out", f"{result}={path('reference.npy')}")
        if status:
            sys.exit(f"the kernel itself fails: {output}")
        with open(path("k.ptx")) as f:
            lines = f.read().split("\n")
        places = [i for i in entry_lines(lines, output) if MUTABLE.search(lines[i].split("//")[0])]
        survivors = []
        for place in places:
            with open(path("m.ptx"), "w") as f:
                f.write("\n".join(lines[:place] + [""] + lines[place + 1:]))
            check = ["--check", f"{result}={path('reference.npy')}"]
            if not any(simulate(runner, path("m.ptx"), base, *check, f"--schedule={s}")[0] for s in SCHEDULES):
                survivors.append(place)
        for place in survivors:
            print(f"nobody misses line {place + 1}: {lines[place].strip()}")
        print(f"{len(places)} mutations, {len(survivors)} survive")
        return 1 if survivors or not places else 0


if __name__ == "__main__":
    sys.exit(main())
