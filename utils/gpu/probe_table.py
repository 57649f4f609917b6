"""The results of the probe as text, and as a page of the documentation."""
import json

PAGE = """# The simulator beside a GPU
`utils/probe table` writes this page from the results of `utils/probe pack DIR` and `DIR/run` on {device}. Each form of an
instruction runs there on special values of its types and on random patterns; results are equal bits, or within the error
that PTX documents. *NaN bits*: forms whose NaNs have another payload, which PTX leaves open. *Refused*: what the simulator
reports as a fault ends the kernel on the GPU too. *Fault*: the GPU does not run the kernel around the form.

Sums of Tensor Cores are equal bits: operands are small integers, random, far apart, so low or so high that results are
subnormal or overflow, and mixed with infinities and NaN. Tensor copies whose first coordinate is no multiple of 16 bytes, and
stores of boxes that begin at a negative coordinate, are an illegal instruction on the GPU.

"""


def families(reports):
    """{family: its reports} in their order."""
    found = {}
    for r in reports:
        found.setdefault(r["family"], []).append(r)
    return found


def row(name, reports):
    return (name, len(reports), sum(r["count"] for r in reports), sum(r["wrong"] > 0 for r in reports),
            sum(r["nans"] > 0 for r in reports), sum("refused" in r for r in reports), sum("fault" in r for r in reports), max(r["worst"] for r in reports))


def line(r):
    if "fault" in r:
        return f"{r['family']}: {r['name']}: fault: {r['fault']}"
    first = f"; {r['first']} {r.get('operands', '')}" if r["first"] else ""
    nan = f"; NaN: {r['nan']}" if "nan" in r else ""
    return f"{r['family']}: {r['name']}: {r['wrong']} of {r['count']} differ, {r['nans']} NaNs{first}{nan}"


def summary(reports):
    head = f"{'family':16s} {'forms':>6s} {'values':>9s} {'differ':>7s} {'NaN bits':>9s} {'refused':>8s} {'fault':>6s} {'worst':>10s}"
    lines = [head]
    for name, found in families(reports).items():
        lines.append("{:16s} {:6d} {:9d} {:7d} {:9d} {:8d} {:6d} {:10.3g}".format(*row(name, found)))
    return "\n".join(lines)


def section(title, lines):
    return f"\n## {title}\n" + "\n".join(lines) + "\n" if lines else ""


def page(path, device):
    """The text of the page for a results.json."""
    with open(path) as f:
        results = json.load(f)
    reports = results["forms"]
    text = PAGE.format(device=device) + "| family | forms | values | differ | NaN bits | refused | fault | largest distance |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    for name, found in families(reports).items():
        text += "| {} | {} | {} | {} | {} | {} | {} | {:.3g} |\n".format(*row(name, found))
    text += section("Forms that differ", [f"- `{r['name']}`: {r['wrong']} of {r['count']}, the first: {r['first']}"
                                          for r in reports if r["wrong"]])
    text += section("Forms that fault", [f"- `{r['name']}`: {r['fault']}" for r in reports if "fault" in r])
    text += section("NaN bits", [f"- `{r['name']}`: {r['nan']}" for r in reports if "nan" in r])
    text += section("Not simulated", [f"- `{m['name']}`: {m['fault']}" for m in results["missing"]])
    return text
