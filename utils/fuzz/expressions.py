"""Random expressions: loads with shifted subscripts, arithmetic, casts, selections, reductions and products."""
import numpy as np

import values
from program import Expr, Tensor

ARITHMETIC = ("i32", "i64", "u32", "f32", "f64")
LOADABLE = {"f32": ("f32", "f32", "bf16", "f16", "f8e4m3", "f8e5m2"), "f64": ("f64", "f64", "f32"),
            "i32": ("i32", "i32", "i8", "u8", "i16", "u16"), "i64": ("i64", "i32"), "u32": ("u32", "u8", "u16")}
FACTORS = ("bf16", "bf16", "f16", "f16", "f8e4m3", "f8e5m2", "tf32", "f32", "i8", "u8", "f64")
LIMIT = {"f32": 1 << 20, "f64": 1 << 40, "bf16": 1 << 30, "f16": 1 << 14, "f8e4m3": 1 << 30, "f8e5m2": 1 << 30}


def cast(e, target):
    if e.type == target:
        return e
    return Expr(f"{target}({e.text})", target, e.axes,
                lambda env: values.convert(e.run(env), e.type, target), e.bound, e.inexact)


def clamped(e, least=-4, greatest=4):
    """The expression, kept small."""
    low, high = (values.dtype(e.type)(n) for n in (least, greatest))
    return Expr(f"clamp({e.text}, {least}, {greatest})", e.type, e.axes,
                lambda env: np.minimum(np.maximum(e.run(env), low), high), max(-least, greatest), e.inexact)


class Expressions:
    """Mixed into the generator, which has `rng`, `program`, `axes` and `names` (values) in scope, and fresh()."""

    def expression(self, type_name, axes, depth):
        """An expression of an arithmetic type with exactly these axes."""
        makers = [self.binary] * 4 + [self.unary, self.chosen, self.converted, self.branches]
        if type_name == "f32":
            makers.append(self.call)
        if self.reducible(axes):
            makers += [self.reduction] * 2 + [self.product] * 2
        if depth <= 0 or self.rng.random() < 0.1:
            makers = [self.leaf]
        e = self.rng.choice(makers)(type_name, frozenset(axes), depth)
        return clamped(e) if e.type in LIMIT and e.bound > LIMIT[e.type] else e

    def leaf(self, type_name, axes, depth=0):
        known = [e for e in self.names if e.axes == axes and e.type == type_name and not e.inexact]
        if known and self.rng.random() < 0.6:
            return self.rng.choice(known)
        if not axes and self.rng.random() < 0.7:
            return self.scalar(type_name)
        if len(axes) == 1 and self.rng.random() < 0.15:
            return self.positions(type_name, next(iter(axes)))
        loaded = self.load(self.rng.choice(LOADABLE[type_name]), axes)
        if loaded.type == type_name or self.implicit(loaded.type, type_name) and self.rng.random() < 0.3:
            return loaded
        return cast(loaded, type_name)

    def implicit(self, source, target):
        return target == "f32" and source in values.NARROW_FLOATS

    def positions(self, type_name, name):
        return cast(Expr(name, "index", [name], lambda env: env.axes[name], 1 << 12), type_name)

    def scalar(self, type_name):
        """A launch argument, an attribute of an axis or a scalar loop variable."""
        kind = self.rng.randrange(3)
        if kind == 0 and self.axes:
            axis = self.rng.choice(list(self.axes.values()))
            attribute = self.rng.choice(["start", "size", "end", "extent"] + ["index"] * axis.tiled)
            return cast(Expr(f"{axis.name}.{attribute}", "index", [],
                             lambda env: np.int64(env.indices[axis.name, attribute]), 1 << 12), type_name)
        if kind == 1 and self.counters:
            name = self.rng.choice(self.counters)
            return cast(Expr(name, "index", [], lambda env: np.int64(env.indices[name]), 1 << 12), type_name)
        name = self.scalar_parameter()
        return cast(Expr(name, "i32", [], lambda env: np.int32(env.scalars[name]), 8), type_name)

    def scalar_parameter(self):
        if len(self.program.scalars) < 3:
            name = self.fresh("s")
            self.program.scalars[name] = self.rng.randint(-4, 8)
        return self.rng.choice(list(self.program.scalars))

    def load(self, type_name, axes, low=-2, high=2, shifted=True):
        """An element of a new or known input for every position of the axes, some of them outside the tensor."""
        order = list(axes)
        self.rng.shuffle(order)
        subscripts = [self.subscript(a) if shifted else (a, lambda env, a=a: env.axes[a]) for a in order]
        shape = [self.axes[a].dimension for a in order]
        if not order:
            subscripts, shape = [("0", lambda env: np.zeros(1, np.int64))], [1]
        elif shifted and self.outer and self.rng.random() < 0.15:      # one more dimension, at a scalar
            text, place, dimension = self.scalar_subscript()
            subscripts.append((text, place))
            shape.append(dimension)
        tensor = self.input(type_name, shape, low, high)
        plain = all(t in self.axes for t, _ in subscripts)
        outside = self.rng.choice([None, None, 0, 1, -1]) if not plain and not type_name.startswith("u") else None
        text = f"{tensor.name}[{', '.join(t for t, _ in subscripts)}{'' if outside is None else f' else {outside}'}]"

        def run(env):
            data = env.tensors[tensor.name]
            where = [place(env) for _, place in subscripts]
            mask = np.ones([len(w) for w in where], bool)
            for i, (w, n) in enumerate(zip(where, data.shape)):
                mask &= ((w >= 0) & (w < n)).reshape([-1 if j == i else 1 for j in range(len(where))])
            if 0 in data.shape:
                got = np.zeros(mask.shape, data.dtype)
            else:
                got = data[np.ix_(*[np.clip(w, 0, n - 1) for w, n in zip(where, data.shape)])]
            got = np.where(mask, got, np.asarray(outside or 0).astype(data.dtype))
            got = got.reshape(got.shape[:len(order)])
            return got.transpose(np.argsort(order)) if order else got

        return Expr(text, type_name, axes, run, max(-low, high))

    def subscript(self, axis):
        """(text, run(env) -> places in the tensor) of one axis: mostly bare, else shifted, scaled, gathered, ..."""
        others = ["scaled", "divided", "folded", "reversed", "gathered"]
        kind = self.rng.choice(["bare"] * 12 + ["shifted"] * 4 + others)
        c, d = self.rng.choice((1, -1, 3, -2, 8)), self.rng.choice((2, 3, 4, 7))
        offset = f" + {c}" if c > 0 else f" - {-c}"
        at = lambda env: env.axes[axis]
        if kind == "shifted":
            return axis + offset, lambda env: at(env) + c
        if kind == "scaled":
            return f"{axis} * {d}{offset}", lambda env: at(env) * d + c
        if kind == "divided":
            return f"({axis}{offset}) / {d}", lambda env: (at(env) + c) // d
        if kind == "folded":
            return f"({axis}{offset}) % {d}", lambda env: (at(env) + c) % d
        if kind == "reversed":
            return f"{d} - {axis}", lambda env: d - at(env)
        if kind == "gathered":
            index = self.input("i32", [self.axes[axis].dimension], -1, 9).name

            def gather(env):
                data, p = env.tensors[index], at(env)
                inside = (p >= 0) & (p < len(data))
                return np.where(inside, data[np.where(inside, p, 0)], 0) if len(data) else np.zeros(len(p), np.int64)
            return f"{index}[{axis}]", gather
        return axis, at

    def scalar_subscript(self):
        """(text, run(env), extent) of a subscript that is the same for a whole tile."""
        name, dimension = self.rng.choice(self.outer)
        if name in self.counters:
            return name, lambda env: np.array([env.indices[name]]), dimension
        return f"{name}.index", lambda env: np.array([env.indices[name, "index"]]), dimension

    def input(self, type_name, shape, low, high):
        known = [t for t in self.program.tensors.values()
                 if t.access == "in" and t.type == type_name and t.shape == shape and (t.low, t.high) == (low, high)]
        if known and self.rng.random() < 0.5 or len(self.program.tensors) > 12 and known:
            return self.rng.choice(known)
        tensor = Tensor(self.fresh("X"), type_name, "in", shape, low, high)
        self.program.tensors[tensor.name] = tensor
        return tensor

    def subset(self, axes):
        return frozenset(a for a in axes if self.rng.random() < 0.6)

    def pair(self, type_name, axes, depth):
        """Two operands, one of them with all axes, in either order."""
        whole = self.expression(type_name, axes, depth - 1)
        part = self.expression(type_name, axes if self.rng.random() < 0.5 else self.subset(axes), depth - 1)
        return (whole, part) if self.rng.random() < 0.5 else (part, whole)

    def binary(self, type_name, axes, depth):
        operators = ["+", "-", "*", "min", "max"]
        if type_name not in values.FLOATS:
            operators += ["/", "%", "&", "|", "^", "<<", ">>"]
        operator = self.rng.choice(operators)
        a, b = (cast(e, type_name) if operator in ("min", "max") else e for e in self.pair(type_name, axes, depth))
        if operator == "*" and type_name == "f32" and a.bound * b.bound > LIMIT["f32"]:   # stays exact, also contracted
            a, b = clamped(a), clamped(b)
        text = f"{operator}({a.text}, {b.text})" if operator in ("min", "max") else f"({a.text} {operator} {b.text})"
        bound = a.bound * b.bound if operator == "*" else a.bound + b.bound

        def run(env):
            x, y = (e.over(env, axes).astype(values.dtype(type_name)) for e in (a, b))
            return values.BINARY[operator](x, y).astype(x.dtype)

        return Expr(text, type_name, axes, run, bound)

    def unary(self, type_name, axes, depth):
        e = cast(self.expression(type_name, axes, depth - 1), type_name)
        form = self.rng.choice(["-", "abs"] if type_name != "u32" else ["~"])
        function = {"-": np.negative, "abs": np.abs, "~": np.invert}[form]
        return Expr(f"{form}({e.text})", type_name, axes, lambda env: function(e.run(env)), e.bound)

    def condition(self, axes, depth):
        """A bool over exactly these axes."""
        type_name = self.rng.choice(ARITHMETIC)
        a, b = (cast(e, type_name) for e in self.pair(type_name, axes, depth))
        operator = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return Expr(f"({a.text} {operator} {b.text})", "bool", axes,
                    lambda env: values.BINARY[operator](a.over(env, axes), b.over(env, axes)), 1)

    def chosen(self, type_name, axes, depth):
        c = self.condition(axes, depth - 1)
        a, b = (cast(e, type_name) for e in self.pair(type_name, axes, depth))
        return Expr(f"select({c.text}, {a.text}, {b.text})", type_name, axes,
                    lambda env: np.where(c.run(env), a.over(env, axes), b.over(env, axes)), max(a.bound, b.bound))

    def branches(self, type_name, axes, depth):
        """An `if` with a value."""
        c = self.condition(frozenset(), depth - 1)
        a, b = (cast(e, type_name) for e in self.pair(type_name, axes, depth))
        return Expr(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", type_name, axes,
                    lambda env: np.where(c.run(env), a.over(env, axes), b.over(env, axes)), max(a.bound, b.bound))

    def call(self, type_name, axes, depth):
        """A call of a function of the file; `peak` reduces an axis of its argument."""
        along = self.reducible(axes)
        if along and self.rng.random() < 0.5:
            name = self.rng.choice(along)
            e = cast(self.expression("f32", axes | {name}, depth - 1), "f32")
            dimension = sorted(axes | {name}).index(name)
            self.program.functions["peak"] = "fn peak[t](x: f32[t]) -> f32 { max(max[t](abs(x)), 1) }"
            return Expr(f"peak[{name}]({e.text})", "f32", axes,
                        lambda env: np.maximum(np.max(np.abs(e.run(env)), axis=dimension, initial=0), np.float32(1)),
                        max(e.bound, 1))
        a, b = (cast(e, "f32") for e in self.pair("f32", axes, depth))
        self.program.functions["gap"] = "fn gap(x: f32, y: f32) -> f32 {\n  let d = x - y\n  select(d < 0, -d, d)\n}"
        return Expr(f"gap({a.text}, {b.text})", "f32", axes,
                    lambda env: np.abs(a.over(env, axes) - b.over(env, axes)), a.bound + b.bound)

    def converted(self, type_name, axes, depth):
        """A detour through another type."""
        source = self.rng.choice([t for t in ARITHMETIC if t != type_name])
        e = cast(self.expression(source, axes, depth - 1), source)
        if type_name in values.FLOATS:
            e = e if source in values.FLOATS else clamped(e) if source != "u32" else clamped(e, 0, 4)
            narrow = self.rng.choice(["f32", "bf16", "f16", "f8e4m3"])
            return cast(cast(e, narrow) if e.bound < 60000 and narrow != type_name else e, type_name)
        return cast(e, type_name)

    def reducible(self, axes):
        """Axes in scope that a value over `axes` could still be reduced along."""
        size = np.prod([self.axes[a].extent for a in axes], dtype=np.int64)
        return [a for a in self.axes if a not in axes and size * self.axes[a].extent <= self.most_elements]

    def reduction(self, type_name, axes, depth):
        name = self.rng.choice(self.reducible(axes))
        form = self.rng.choice(["sum", "sum", "max", "min"] + (["argmax", "argmin"] if type_name == "i64" else []) +
                               (["any", "all", "count"] if type_name == "i32" else []))
        maker = self.quantifier if form in ("any", "all", "count") else self.fold
        return maker(form, name, type_name, axes, depth)

    def guard(self, name, axes):
        """A condition over one more axis, and its text, or nothing."""
        if self.rng.random() < 0.75:
            return None, ""
        condition = self.condition(axes if self.rng.random() < 0.3 else [name], 0)
        return condition, f" where {condition.text}"

    def fold(self, form, name, type_name, axes, depth):
        inner = axes | {name}
        e = cast(self.expression(type_name, inner, depth - 1), type_name)
        condition, guard = self.guard(name, inner)
        extent = self.axes[name].extent
        neutral = {"sum": 0, "max": values.lowest(type_name), "min": values.highest(type_name)}.get(form)
        if form.startswith("arg"):
            condition, guard = None, ""
        dimension = sorted(inner).index(name)

        def run(env):
            x = e.run(env)
            if condition:
                x = np.where(condition.over(env, inner), x, np.asarray(neutral).astype(x.dtype))
            result = values.reduce(form, x, dimension, type_name, type_name)
            if form.startswith("arg") and x.shape[dimension]:
                result = env.axes[name][result]
            return result

        text = f"{form}[{name}{guard}]({e.text})"
        if form in ("max", "min") and type_name in values.FLOATS:    # an empty one is infinite
            edge = -4 if form == "max" else 4
            other = "max" if form == "max" else "min"
            return Expr(f"{other}({text}, {edge})", type_name, axes,
                        lambda env: values.BINARY[other](run(env), np.asarray(edge).astype(values.dtype(type_name))),
                        max(e.bound, 4))
        return Expr(text, type_name, axes, run, e.bound * extent if form == "sum" else e.bound + 4096)

    def quantifier(self, form, name, type_name, axes, depth):
        inner = axes | {name}
        c = self.condition(inner, depth - 1)
        dimension = sorted(inner).index(name)
        if form == "count":
            return Expr(f"sum[{name}]({c.text})", "i32", axes,
                        lambda env: values.reduce("sum", c.run(env), dimension, "bool", "i32"))
        e = Expr(f"{form}[{name}]({c.text})", "bool", axes,
                 lambda env: values.reduce(form, c.run(env), dimension, "bool", "bool"))
        return Expr(f"select({e.text}, 1, 0)", "i32", axes, lambda env: e.run(env).astype(np.int32))

    def factor(self, type_name, axes, depth):
        """An operand of dot."""
        stored = "f32" if type_name == "tf32" else type_name
        if type_name in values.NARROW_FLOATS and depth > 1 and self.rng.random() < 0.4:
            return cast(clamped(cast(self.expression("f32", axes, depth - 1), "f32"), -2, 2), type_name)
        e = self.load(stored, axes, shifted=self.rng.random() < 0.3)
        if type_name == "tf32":
            return Expr(f"tf32({e.text})", "f32", axes, e.run, e.bound)
        return e

    def product(self, type_name, axes, depth, name=None):
        """dot along an axis, also with axes that both factors have."""
        proper = name is not None and len(axes) == 2 and self.rng.random() < 0.8
        name = name or self.rng.choice(self.reducible(axes))
        kinds = [t for t in FACTORS if type_name in ("f32", "f64") or t in ("i8", "u8")]
        kind = self.rng.choice(("bf16", "f16") if self.regular and type_name == "f32" else kinds)
        left, both = [], []
        for a in sorted(axes):
            self.rng.choice([left, left, left, both, []]).append(a)
        if proper:
            left, both = self.rng.sample(sorted(axes), 1), []
        right = [a for a in axes if a not in left or a in both]
        if not proper and self.rng.random() < 0.2:
            right = [a for a in axes if a not in left] + left[:1]
        a, b = (self.factor(kind, frozenset(part) | {name}, depth) for part in (left + both, right))
        result = {"i8": "i32", "u8": "u32", "f64": "f64"}.get(kind, "f32")
        inner = axes | {name}
        dimension = sorted(inner).index(name)

        def run(env):
            x, y = (e.over(env, inner).astype(np.float64) for e in (a, b))
            subscripts = list(range(len(inner)))
            out = [i for i in subscripts if i != dimension]
            total = np.einsum(x, subscripts, y, subscripts, out)
            return total.astype(np.int64).astype(values.dtype(result)) if result in values.INTEGERS \
                else total.astype(values.dtype(result))

        e = Expr(f"dot[{name}]({a.text}, {b.text})", result, axes, run, a.bound * b.bound * self.axes[name].extent)
        return cast(e, type_name)
