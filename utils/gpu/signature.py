"""Reads the parameters of a kernel off its source, for runners that have no reflection of it."""
import re


class Parameter:
    """access: "in", "out" or "inout"; type: element or scalar type; shape: texts of the extents, None for a scalar."""

    def __init__(self, access, name, type_name, shape):
        self.access, self.name, self.type, self.shape = access, name, type_name, shape


def split(text):
    """The parts between top-level commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]] if p.strip()]


def bracketed(text, start):
    """The text inside the bracket that opens at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return text[start + 1:i]
    raise ValueError("unbalanced brackets")


def parameters(source, kernel):
    """The parameters of a kernel or an instance of one, type parameters replaced."""
    source = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)
    types, found = {}, re.search(rf"\binstantiate\s+(\w+)\s*<([^>]*)>\s*as\s+{kernel}\b", source)
    if found:
        kernel, types = found[1], dict(re.findall(r"(\w+)\s*=\s*(\w+)", found[2]))
    head = re.search(rf"\bkernel\s+{kernel}\s*(<[^>]*>)?\s*\(", source)
    for name, default in re.findall(r"(\w+)\s*:\s*type\s*=\s*(\w+)", head[1] or ""):
        types.setdefault(name, default)
    result = []
    for text in split(bracketed(source, head.end() - 1)):
        access, name, type_name, rest = re.match(r"(?:(out|inout)\s+)?(\w+)\s*:\s*(\w+)\s*(.*)", text, re.S).groups()
        shape = split(bracketed(rest, 0)) if rest.startswith("[") else None
        result.append(Parameter(access or "in", name, types.get(type_name, type_name), shape))
    return result
