"""Ways to break a program after its last step: each deletes one thing that keeps it right."""
import re

KERNEL = re.compile(r"^  tilegpu\.kernel @(\w+)")
VALUE = r"%[\w#]+"


class Mutation:
    """lines: those of the kernel; kind and text say what is missing; place: in which loops it was."""

    def __init__(self, kind, line, lines):
        self.kind, self.text, self.lines, self.place = kind, " ".join(line.split())[:100], lines, ""


def kernels(module):
    """(name, module with this kernel alone, its lines, rebuild(lines) -> module) of each kernel of a module's text."""
    lines = module.splitlines()
    starts = [i for i, line in enumerate(lines) if KERNEL.match(line)]
    spans = [(i, next(j for j in range(i, len(lines)) if lines[j] == "  }") + 1) for i in starts]
    for i, j in spans:
        def rebuild(body, i=i):
            return "\n".join(lines[:starts[0]] + body + lines[spans[-1][1]:]) + "\n"
        yield KERNEL.match(lines[i]).group(1), lines[i:j], rebuild


def indent(line):
    return len(line) - len(line.lstrip())


def end_of_block(lines, i):
    """The line after the last one of the block that line i stands in."""
    return next(j for j in range(i, len(lines)) if indent(lines[j]) < indent(lines[i]))


def without(lines, i):
    return lines[:i] + lines[i + 1:]


def replaced(lines, i, line):
    return lines[:i] + [line] + lines[i + 1:]


def renamed(lines, i, old, new):
    """Line i is gone, and its result `old` is `new` in the rest of its block."""
    end, pattern = end_of_block(lines, i), re.compile(re.escape(old) + r"(?![\w#])")
    return lines[:i] + [pattern.sub(lambda _: new, line) for line in lines[i + 1:end]] + lines[end:]


def moved(lines, i, to):
    """Line i stands right after line `to`, which is before it."""
    return lines[:to + 1] + [lines[i]] + lines[to + 1:i] + lines[i + 1:]


def definition(lines, i, value):
    """The line before i that defines a value; for one that a loop carries, that before the products are waited for."""
    found = next((j for j in range(i - 1, -1, -1) if lines[j].lstrip().startswith(value + " = ")), None)
    if found is not None:
        return found
    return next(j for j in range(i - 1, -1, -1) if re.search(r"tilegpu\.mma_(settle|wait)", lines[j])) - 1


def synchronisation(lines, i):
    """Mutations of waits, releases, barriers and fences."""
    line = lines[i]
    name = re.search(r"(?:tilegpu|scf)\.(\w+)", line)
    name = name.group(1) if name else ""
    if name in ("release", "commit"):
        yield Mutation(name, line, without(lines, i))
        slot = re.search(VALUE, line).group()
        yield Mutation("early " + name, line, moved(lines, i, definition(lines, i, slot)))
    elif name in ("barrier", "zero_tail", "fill", "local_store", "flush", "drain", "turn_take", "turn_pass", "skip"):
        yield Mutation(name, line, without(lines, i))
    elif name in ("mma_wait", "mma_settle"):
        weaker = re.sub(r"after (\d+)", lambda m: f"after {int(m[1]) + 1}", line, count=1)
        yield Mutation("wait", line, replaced(lines, i, weaker))
    if name in ("barrier", "zero_tail") and "async_proxy" in line:
        unfenced = re.sub(r" \{async_proxy\}|async_proxy, |, async_proxy", "", line)
        yield Mutation("fence", line, replaced(lines, i, unfenced))


def masks(lines, i):
    """Mutations of guards: conditions, bounds of accesses, absent positions of stores and reductions."""
    line = lines[i]
    choice = re.match(rf"\s*({VALUE}) = arith\.select ({VALUE}), ({VALUE}), ({VALUE})", line)
    if choice:
        result, _, left, right = choice.groups()
        yield Mutation("mask, set", line, renamed(lines, i, result, left))
        yield Mutation("mask, clear", line, renamed(lines, i, result, right))
    if re.match(r"\s*scf\.if ", line):
        always = re.sub(rf"scf\.if {VALUE}", "scf.if %always", line)
        constant = " " * indent(line) + "%always = arith.constant true\n"
        yield Mutation("condition", line, replaced(lines, i, constant + always))
    for name in ("inbounds", "full"):
        found = re.search(rf"{name} = array<i1: ([\w, ]+)>", line)
        flags = found.group(1).split(", ") if found else []
        for d, flag in enumerate(flags):
            if flag == "false":
                changed = ", ".join(flags[:d] + ["true"] + flags[d + 1:])
                kind = f"{name} of dimension {d}"
                yield Mutation(kind, line, replaced(lines, i, line[:found.start(1)] + changed + line[found.end(1):]))
    if re.search(r"= tile\.reduce ", line) and "{full" not in line:
        claim = lambda m: m[1] + (" {full, " if m[0].endswith("{") else " {full}")
        yield Mutation("absent positions", line, replaced(lines, i, re.sub(r"( dim \d+)(?: \{)?", claim, line, 1)))


def place(lines, i):
    """The loops around a line, each as `N of M` of the loops in its block."""
    words = []
    for j in range(i - 1, 0, -1):
        if indent(lines[j]) < indent(lines[i]) and "scf.for " in lines[j] and end_of_block(lines, j + 1) > i:
            first = next(k for k in range(j, -1, -1) if indent(lines[k]) < indent(lines[j]))
            block = range(first + 1, end_of_block(lines, j))
            loops = [k for k in block if indent(lines[k]) == indent(lines[j]) and "scf.for " in lines[k]]
            words.insert(0, f"loop {loops.index(j) + 1} of {len(loops)}")
    return ", ".join(words) or "no loop"


def mutations(lines):
    """All mutations of a kernel."""
    for i in range(1, len(lines) - 1):
        for mutation in [*synchronisation(lines, i), *masks(lines, i)]:
            mutation.place = place(lines, i)
            yield mutation
