"""Evaluates the integer host expressions of the reflection JSON (int64, floor division, x / 0 = 0).

An expression is an integer, a name ("M", "A.stride0", "sm_count") or a list [operator, operand, ...].
"""
import numbers

INT64 = 1 << 64


class UnknownName(KeyError):
    """An expression names something that the launch does not define."""

    def __str__(self):
        return f"host expression names `{self.args[0]}`, which the launch does not define"


def wrap(value):
    """The value modulo 2^64 as a signed 64-bit integer; floats (only ever compared) pass unchanged."""
    if not isinstance(value, numbers.Integral):
        return float(value)
    value = int(value) & (INT64 - 1)
    return value - INT64 if value >> 63 else value


def _div(a, b):
    return a // b if b else 0


def _rem(a, b):
    return a % b if b else 0


def _ceil_div(a, b):
    return -(-a // b) if b else 0


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _div,
    "rem": _rem,
    "ceil_div": _ceil_div,
    "align_up": lambda a, b: _ceil_div(a, b) * b,
    "min": min,
    "max": max,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
    "and": lambda a, b: int(bool(a) and bool(b)),
    "or": lambda a, b: int(bool(a) or bool(b)),
}
VARIADIC = {"add", "mul", "min", "max", "and", "or"}


def evaluate(expr, values, aligned=None):
    """The int64 value of `expr`.

    values: name -> number. aligned(tensor, bytes) -> bool answers ["aligned", tensor, bytes].
    """
    if isinstance(expr, (bool, int, float)):
        return wrap(expr)
    if isinstance(expr, str):
        if expr not in values:
            raise UnknownName(expr)
        return wrap(values[expr])
    op, operands = expr[0], expr[1:]
    if op == "aligned":
        return int(aligned(operands[0], evaluate(operands[1], values)))
    args = [evaluate(e, values, aligned) for e in operands]
    if op == "not" and len(args) == 1:
        return int(not args[0])
    if op not in BINARY or len(args) < 2 or (len(args) > 2 and op not in VARIADIC):
        raise ValueError(f"malformed host expression {expr!r}")
    result = args[0]
    for a in args[1:]:
        result = wrap(BINARY[op](result, a))
    return result


def text(expr):
    """The expression in the notation of the language, for error messages."""
    symbol = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "eq": "==", "ne": "!=", "lt": "<",
              "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||"}
    if not isinstance(expr, list):
        return str(expr)
    parts = [text(e) if not isinstance(e, list) or e[0] not in symbol else f"({text(e)})" for e in expr[1:]]
    if expr[0] in symbol:
        return f" {symbol[expr[0]]} ".join(parts)
    return f"!{parts[0]}" if expr[0] == "not" else f"{expr[0]}({', '.join(parts)})"
