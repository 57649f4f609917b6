"""A plot of ratios as SVG: a line a problem, a dot a peer, on a logarithmic axis."""
import math
from xml.sax.saxutils import escape

from bench_peers import OURS
from bench_results import COLUMNS, present, ratio, sets
from bench_shapes import SETS

COLOURS = dict(zip(COLUMNS, ("#1b7837", "#1b7837", "#762a83", "#555555", "#999999", "#d6604d", "#4393c3", "#e08214",
                             "#c51b7d", "#8c510a", "#000000")))
LABELS, WIDTH, RIGHT, ROW, HEAD, FOOT = 300, 560, 30, 17, 34, 26
LOWEST, HIGHEST = 0.6, 2.5                     # what lies outside is drawn at the edge, as a triangle
TICKS = (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5)


def across(value):
    """The place of a ratio."""
    value = min(max(value, LOWEST), HIGHEST)
    return LABELS + WIDTH * math.log(value / LOWEST) / math.log(HIGHEST / LOWEST)


def text(x, y, content, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(content)}</text>'


def mark(value, y, colour, title):
    x = across(value)
    if LOWEST <= value <= HIGHEST:
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.8">'
        return f"{shape}<title>{escape(title)}</title></circle>"
    tip = 6 if value > HIGHEST else -6
    shape = f'<path d="M{x:.1f} {y - 4:.1f}L{x + tip:.1f} {y:.1f}L{x:.1f} {y + 4:.1f}Z" fill="{colour}">'
    return f"{shape}<title>{escape(title)}</title></path>"


def legend(peers, y):
    parts, x = [], LABELS
    for p in peers:
        parts += [f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{COLOURS[p]}"/>', text(x + 8, y, p)]
        x += 24 + 7 * len(p)
    return parts


def panel(name, group, top):
    """(shapes, height) of a set."""
    height, parts = ROW * len(group), [text(8, top + 18, SETS.get(name, name), extra=' font-weight="bold"')]
    begin = top + HEAD
    parts += legend(present_peers(group), top + 18)
    for t in TICKS:
        x, strong = across(t), t == 1
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{begin - 6}" y2="{begin + height}" '
                     f'stroke="{"#000" if strong else "#ddd"}"/>')
        parts.append(text(x, begin + height + 13, f"{t:g}", "middle"))
    for i, result in enumerate(group):
        y = begin + ROW * i + ROW / 2
        parts.append(text(LABELS - 10, y + 3.5, result["name"], "end"))
        for p in present_peers(group):
            value = ratio(result, p)
            if value is not None:
                parts.append(mark(value, y, COLOURS[p], f"{result['name']}: {value:.3f} of {p}"))
    return parts, HEAD + height + FOOT


def present_peers(group):
    return [p for p in present(group) if p != OURS and any(ratio(r, p) is not None for r in group)]


def svg(results):
    """Our rate by each peer's, over 1 where ours is higher."""
    parts, top = [text(8, 18, "Our rate by each peer's, single launches (FA3: sustained)")], 28
    grouped = sets(results)
    for name in [*(n for n in SETS if n in grouped), *(n for n in grouped if n not in SETS)]:
        drawn, height = panel(name, grouped[name], top)
        parts += drawn
        top += height
    width = LABELS + WIDTH + RIGHT
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}" '
                      'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{top}" fill="#fff"/>',
                      *parts, "</svg>"])
