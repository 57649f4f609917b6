"""mutations.py TILEC TILE-RUN SOURCE KERNEL RESULT ARGUMENT...: deletes each barrier, wait, arrival, fence and transfer of
the kernel's PTX in turn. The simulator must report a fault or give another result, with asynchronous work that completes
late, early or at random moments.

Arguments `-D...` and `--arch=...` (sm_90a unless given) go to tilec, `--tolerance=...` to the comparison, the others to
tile-run. What survives must stand in mutations-survivors.txt beside this file, with the reason; a reason that no mutation
needs is an error."""
import os
import re
import subprocess
import sys
import tempfile

MUTABLE = re.compile(r"(bar\.|barrier\.cluster|mapa|mbarrier\.|wgmma\.(fence|commit|wait)|fence\.|cp\.async|cp\.reduce)")
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


def survivors_of(label):
    """[(most, pattern, reason)] of a kernel: lines `KERNEL/ARCH MOST PATTERN # reason`: up to MOST mutations of lines that
    hold the pattern survive."""
    found = []
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutations-survivors.txt")) as f:
        for line in f:
            text, _, reason = line.strip().partition(" # ")
            name, _, rest = text.partition(" ")
            if name == label:
                most, _, pattern = rest.partition(" ")
                found.append((int(most), pattern, reason))
    return found


def judge(label, lines, survivors, total):
    """Prints what survives without a reason, and reasons that nothing needs."""
    known, used, unknown = survivors_of(label), {}, 0
    for place in survivors:
        pattern = next((p for most, p, _ in known if p in lines[place] and used.get(p, 0) < most), None)
        used[pattern] = used.get(pattern, 0) + 1
        if pattern is None:
            unknown += 1
            print(f"nobody misses line {place + 1}: {lines[place].strip()}")
    idle = [f"{most} {p}" for most, p, _ in known if used.get(p, 0) < most]
    for entry in idle:
        print(f"mutations-survivors.txt: `{label} {entry}` is more than what survives")
    print(f"{label}: {total} mutations, {len(survivors)} survive, {unknown} without a reason")
    return 1 if unknown or idle or not total else 0


def main():
    tilec, runner, source, kernel, result, *arguments = sys.argv[1:]
    arch = next((a[7:] for a in arguments if a.startswith("--arch=")), "sm_90a")
    definitions = [a for a in arguments if a.startswith("-D")]
    tolerance = [a for a in arguments if a.startswith("--tolerance=")]
    rest = [a for a in arguments if a not in definitions + tolerance and not a.startswith("--arch=")]
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for form in ("ptx", "json"):
            subprocess.run([tilec, source, f"--arch={arch}", *definitions, f"--emit={form}", "-o", path("k." + form)], check=True)
        base = ["--json", path("k.json"), f"--kernel={kernel}", *rest]
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
            check = ["--check", f"{result}={path('reference.npy')}", *tolerance]
            if not any(simulate(runner, path("m.ptx"), base, *check, f"--schedule={s}")[0] for s in SCHEDULES):
                survivors.append(place)
        return judge(f"{kernel}/{arch}", lines, survivors, len(places))


if __name__ == "__main__":
    sys.exit(main())
