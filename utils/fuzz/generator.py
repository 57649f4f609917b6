"""Random valid programs of the parts of the language that are built: the same seed gives the same program."""
import random

import numpy as np

import values
from expressions import ARITHMETIC, Expressions, cast, clamped
from program import Axis, Expr, Program, Tensor

SIZES = (0, 1, 2, 3, 7, 8, 16, 17, 31, 32, 33, 48, 64, 65, 96, 100, 127, 128)
TILES = (1, 2, 3, 4, 5, 8, 12, 16, 16, 24, 32, 32, 32, 40, 48, 64, 64, 64, 96, 128)
REGULAR_TILES = (8, 16, 16, 32, 32, 64, 64, 64, 128)
STORED = {"f32": ("f32", "bf16", "f16", "f8e4m3"), "f64": ("f64", "f32"), "i32": ("i32", "i16", "i8"),
          "i64": ("i64", "i32"), "u32": ("u32", "u8")}


class Generator(Expressions):
    """most_elements: of one tile; annotations: whether to pin decisions (which the compiler may refuse)."""

    def __init__(self, seed, most_elements=4096, annotations=False):
        self.rng = random.Random(seed)
        self.most_elements, self.annotations = most_elements, annotations
        # Half of the programs have the sizes and types of the Tensor Core.
        self.regular = self.rng.random() < 0.5
        self.program, self.lines, self.count = Program(), [], 0
        self.axes, self.names, self.variables, self.counters = {}, [], [], []
        self.outer, self.conditional, self.depth = [], False, 1

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, text):
        self.lines.append("  " * self.depth + text)

    def generate(self):
        for name in ("M", "N", "K")[:self.rng.randint(1, 3)]:
            self.program.dims[name] = self.rng.choice((128, 100, 64))
        body = self.kernel_body()
        self.program.body = body
        used = {e for t in self.program.tensors.values() for e in t.shape} | self.bounded | self.looped
        self.program.dims = {n: m for n, m in self.program.dims.items() if n in used}
        alone = {e for t in self.program.tensors.values() for e in t.shape if isinstance(e, str)}
        parameters = [t.declaration() for t in self.program.tensors.values()]
        parameters += [f"{n}: i32" for n in self.program.scalars]
        parameters += [f"{n}: dim" for n in self.program.dims if n not in alone]
        where = ", ".join(f"{n} <= {m}" for n, m in self.program.dims.items() if n in self.bounded)
        head = f"kernel {self.program.name}({', '.join(parameters)})" + (f" where {where}" if where else "") + " {"
        annotation = ["@maxregs(%d)" % self.rng.choice((32, 64, 168, 255))] \
            if self.annotations and self.rng.random() < 0.2 else []
        self.program.text = "\n".join([*self.program.functions.values(), *annotation, head, *self.lines, "}", ""])
        return self.program

    def sizes(self):
        """Random sizes of the dimensions within their contracts."""
        return {n: self.rng.choice([s for s in SIZES if s <= m]) for n, m in self.program.dims.items()}

    # The nest of parallel loops.

    def kernel_body(self):
        self.bounded, self.looped = set(), set()
        dims = list(self.program.dims)
        self.rng.shuffle(dims)
        loops = []
        for name in dims[:self.rng.randint(1, min(2, len(dims)))]:
            loops.append(self.parallel_binding(name))
        if self.annotations and self.rng.random() < 0.4:
            self.emit("@warps(%d)" % self.rng.choice(self.warps()))
        self.emit("parallel " + ", ".join(text for text, _ in loops) + " {")
        body = self.block(self.rng.randint(2, 6), top=True)
        self.emit("}")
        for _, bind in reversed(loops):
            body = bind(body)
        return body

    def warps(self):
        """Numbers of warps that give a thread at most four elements of the tiles, which other axes multiply: ptxas takes
        minutes for thousands of values a thread."""
        elements = int(np.prod([a.extent for a in self.axes.values()], dtype=np.int64))
        return [w for w in (1, 2, 4, 8, 16, 32) if elements <= 128 * w] or [32]

    def parallel_binding(self, dimension):
        if self.rng.random() < 0.25:
            name = self.fresh("p")
            self.counters.append(name)
            self.outer.append((name, dimension))
            self.looped.add(dimension)

            def each(body):
                def run(env):
                    for i in range(env.sizes[dimension]):
                        env.indices[name] = i
                        body(env)
                return run
            return f"{name} in 0..{dimension}", each
        return self.tiled(dimension, self.fresh("m"), "")

    def tiled(self, dimension, name, reverse):
        """(text, body -> loop over tiles)."""
        tile = self.tile_size()
        self.axes[name] = Axis(name, dimension, tile, True)
        self.looped.add(dimension)
        if not reverse and self.depth == 1:
            self.outer.append((name, dimension))

        def each(body):
            def run(env):
                tiles = list(enumerate(range(0, env.sizes[dimension], tile)))
                for i, start in reversed(tiles) if reverse else tiles:
                    self.enter(env, name, start, min(start + tile, env.sizes[dimension]), tile, i)
                    body(env)
            return run
        return f"{name} in {reverse}tiles({dimension}, {tile})", each

    def tile_size(self):
        used = int(np.prod([a.extent for a in self.axes.values()], dtype=np.int64))
        sizes = REGULAR_TILES if self.regular and self.rng.random() < 0.85 else TILES
        fitting = [t for t in sizes if t * min(used, 128) <= self.most_elements]
        return self.rng.choice(fitting or [1])

    @staticmethod
    def enter(env, name, start, end, extent, index):
        env.axes[name] = np.arange(start, end, dtype=np.int64)
        env.indices.update({(name, "start"): start, (name, "end"): end, (name, "size"): end - start,
                            (name, "extent"): extent, (name, "index"): index})

    # Statements. Each maker emits text and returns run(env).

    def block(self, count, top=False):
        """Statements in a scope of their own."""
        axes, names, variables, counters = dict(self.axes), list(self.names), list(self.variables), list(self.counters)
        self.depth += 1
        runs = []
        if top and len(self.axes) > 1 and self.rng.random() < 0.5:
            runs.append(self.matrix_product())
            count //= 2
        for _ in range(count):
            runs.append(self.statement())
        for e in self.names[len(names):]:                      # nothing is computed in vain
            if self.rng.random() < (0.8 if top else 0.3):
                runs.append(self.store(e))
        if top:
            runs.append(self.store())
        self.depth -= 1
        self.axes, self.names, self.variables, self.counters = axes, names, variables, counters

        def run(env):
            for r in runs:
                r(env)
        return run

    def statement(self):
        makers = [self.binding] * 3 + [self.variable] * 2 + [self.store] * 2 + [self.atomic]
        if self.variables:
            makers += [self.assignment] * 3
        if self.depth < 3:
            makers += [self.matrix_product] * 2
        if self.depth < 4:
            makers += [self.loop] * 3 + [self.axis] * 2 + [self.branch]
        return self.rng.choice(makers)()

    def some_axes(self, most=3):
        """Axes of a value that is not too large."""
        names = list(self.axes)
        self.rng.shuffle(names)
        chosen, size = [], 1
        for name in names[:self.rng.choice((0, 1, 1, 2, 2, 2, most))]:
            if size * self.axes[name].extent <= self.most_elements:
                chosen.append(name)
                size *= self.axes[name].extent
        return frozenset(chosen)

    def binding(self):
        name, type_name = self.fresh("v"), self.rng.choice(ARITHMETIC)
        e = cast(self.expression(type_name, self.some_axes(), 2), type_name)
        self.emit(f"let {name} = {e.text}")
        self.names.append(self.value(name, e))

        def run(env):
            env.values[name] = e.run(env)
        return run

    def value(self, name, e):
        return Expr(name, e.type, e.axes, lambda env: env.values[name], e.bound, e.inexact)

    def declared(self, type_name, axes):
        """The text of a type; the axes may stand in any order."""
        order = list(axes)
        self.rng.shuffle(order)
        return type_name + (f"[{', '.join(order)}]" if order else "")

    def variable(self):
        name, type_name, axes = self.fresh("w"), self.rng.choice(ARITHMETIC), self.some_axes()
        start = self.rng.choice((0, 0, 1, -1)) if type_name != "u32" else 0
        if self.rng.random() < 0.6:
            e = Expr(str(start), type_name, [], lambda env: np.asarray(start).astype(values.dtype(type_name)), 1)
        else:
            e = cast(self.expression(type_name, self.subset(axes), 1), type_name)
            if type_name in values.FLOATS and e.bound > 1 << 14:
                e = clamped(e)
        self.emit(f"var {name}: {self.declared(type_name, axes)} = {e.text}")
        target = Expr(name, type_name, axes, lambda env: env.values[name], 1 << 14)
        self.names.append(target)
        self.variables.append(target)

        def run(env):
            shape = [len(env.axes[a]) for a in sorted(axes)]
            env.values[name] = np.broadcast_to(e.over(env, axes), shape).copy()
        return run

    def assignment(self):
        target = self.rng.choice(self.variables)
        axes = target.axes if self.rng.random() < 0.7 else self.subset(target.axes)
        e = cast(self.expression(target.type, axes, 2), target.type)
        operator = self.rng.choice(("=", "+=", "+=", "+=", "-=", "max=", "min="))
        if target.type in values.FLOATS:                        # sums of small numbers stay exact in loops
            small = 64 if target.type == "f32" else 1 << 20
            if operator in ("+=", "-=") and self.depth > 2:
                e = e if e.bound <= small else clamped(e)
            elif e.bound > 1 << 14:
                e = clamped(e)
        self.emit(f"{target.text} {operator} {e.text}")

        def run(env):
            old = env.values[target.text]
            new = np.broadcast_to(e.over(env, target.axes), old.shape).astype(old.dtype)
            env.values[target.text] = new.copy() if operator == "=" else \
                values.BINARY[operator[:-1]](old, new).astype(old.dtype)
        return run

    def loop(self):
        if self.rng.random() < 0.25:
            return self.counted_loop()
        dimension = self.rng.choice(list(self.program.dims))
        name = self.fresh("k")
        axes = dict(self.axes)
        text, bind = self.tiled(dimension, name, "reverse " if self.rng.random() < 0.1 else "")
        if self.annotations and self.rng.random() < 0.5:
            self.emit(self.rng.choice((f"@stages({self.rng.randint(1, 6)})", f"@unroll({self.rng.randint(1, 4)})")))
        self.emit(f"for {text} {{")
        body = self.block(self.rng.randint(1, 3))
        self.emit("}")
        self.axes = axes
        return bind(body)

    def matrix_product(self):
        """A sum of products over a tiled loop, and what follows it: the form that rings and Tensor Cores serve."""
        axes = frozenset(self.rng.sample(sorted(self.axes), min(2, len(self.axes))))
        if np.prod([self.axes[a].extent for a in axes], dtype=np.int64) > self.most_elements:
            return self.loop()
        name = self.fresh("w")
        kind = "f32" if self.regular else self.rng.choice(("f32", "f32", "f32", "i32", "f64"))
        self.emit(f"var {name}: {self.declared(kind, axes)} = 0")
        target = Expr(name, kind, axes, lambda env: env.values[name], 1 << 14)
        before, scope = list(self.names), dict(self.axes)
        along = self.fresh("k")
        text, bind = self.tiled(self.rng.choice(list(self.program.dims)), along, "")
        if self.annotations and self.rng.random() < 0.5:
            self.emit(f"@stages({self.rng.randint(1, 4)})")
        self.emit(f"for {text} {{")
        self.depth += 1
        e = cast(self.product(kind, axes, self.rng.choice((1, 2)), along), kind)
        if self.rng.random() < 0.3:
            e = cast(clamped(e, -8, 8), kind)
        self.emit(f"{name} += {e.text}")
        self.depth -= 1
        self.emit("}")
        self.names, self.axes = before + [target], scope
        self.variables.append(target)
        dtype = values.dtype(kind)

        def step(env):
            env.values[name] = (env.values[name] + e.over(env, axes)).astype(dtype)
        loop = bind(step)

        def run(env):
            env.values[name] = np.zeros([len(env.axes[a]) for a in sorted(axes)], dtype)
            loop(env)
        return run

    def counted_loop(self):
        name, count = self.fresh("c"), self.rng.randint(0, 3)
        counters = list(self.counters)
        self.counters.append(name)
        self.emit(f"for {name} in 0..{count} {{")
        body = self.block(self.rng.randint(1, 2))
        self.emit("}")
        self.counters = counters

        def run(env):
            for i in range(count):
                env.indices[name] = i
                body(env)
        return run

    def axis(self):
        """A constant axis, one over a bounded dimension, or a second axis over a range."""
        name = self.fresh("a")
        tiled = [a for a in self.axes.values() if a.tiled]
        bounded = [n for n, m in self.program.dims.items() if m <= 128]
        kind = self.rng.randrange(3)
        if kind == 0 and tiled:
            other = self.rng.choice(tiled)
            self.axes[name] = Axis(name, other.dimension, other.extent, False)
            self.emit(f"axis {name} = {other.name}.range")
            span = lambda env: (env.indices[other.name, "start"], env.indices[other.name, "end"], other.extent)
        elif kind == 1 and bounded:
            dimension = self.rng.choice(bounded)
            self.bounded.add(dimension)
            self.axes[name] = Axis(name, dimension, self.program.dims[dimension], False)
            self.emit(f"axis {name} = 0..{dimension}")
            most = self.program.dims[dimension]
            span = lambda env: (0, env.sizes[dimension], most)
        else:
            extent = self.tile_size()
            self.axes[name] = Axis(name, extent, extent, False)
            self.emit(f"axis {name} = 0..{extent}")
            span = lambda env: (0, extent, extent)

        def run(env):
            start, end, extent = span(env)
            self.enter(env, name, start, end, extent, 0)
        return run

    def branch(self):
        condition = self.condition(frozenset(), 1)
        self.emit(f"if {condition.text} {{")
        before, self.conditional = self.conditional, True
        yes = self.block(self.rng.randint(1, 2))
        no = None
        if self.rng.random() < 0.5:
            self.emit("} else {")
            no = self.block(self.rng.randint(1, 2))
        self.emit("}")
        self.conditional = before

        def run(env):
            if condition.run(env):
                yes(env)
            elif no:
                no(env)
        return run

    def store_target(self, axes):
        """(texts of the subscripts, shape, run(env) -> positions in each dimension) for all parallel variables."""
        scalars = [(n, d) for n, d in self.outer if n in self.counters]
        order = [(n, d) for n, d in self.outer if n in axes] + scalars
        order += [(a, self.axes[a].dimension) for a in sorted(axes) if (a, self.axes[a].dimension) not in order]
        self.rng.shuffle(order)
        return order

    def store(self, known=None):
        """Stores a known value or a new one into a tensor of its own."""
        axes = (known.axes if known else self.some_axes()) | {n for n, _ in self.outer if n in self.axes}
        if not known and np.prod([self.axes[a].extent for a in axes], dtype=np.int64) > 4 * self.most_elements:
            axes = frozenset(n for n, _ in self.outer if n in self.axes)
        type_name = known.type if known else self.rng.choice(ARITHMETIC)
        e = known or self.expression(type_name, axes if self.rng.random() < 0.8 else self.subset(axes), 2)
        stored = self.rng.choice(STORED[type_name])
        if stored in ("f16", "f8e4m3") and e.bound > 400:
            e = clamped(e)
        e = cast(cast(e, type_name), stored)
        inexact = self.rng.random() < 0.15 and type_name == "f32"
        if inexact:
            e = self.transcendental(clamped(cast(e, "f32"), -8, 8), stored)
        order = self.store_target(axes)
        shift = self.rng.choice([0] * 6 + [1, -1])
        # Elements that stay as they were have to be inputs.
        access = "out" if not shift and not self.conditional and self.depth == 2 and len(order) == len(self.outer) \
            else "inout"
        tensor = Tensor(self.fresh("Y"), stored, access, [d for _, d in order] or [1])
        tensor.inexact = inexact
        self.program.tensors[tensor.name] = tensor
        subscripts = [n for n, _ in order] or ["0"]
        if shift:
            subscripts[0] += f" + {shift}" if shift > 0 else f" - {-shift}"
        self.emit(f"{tensor.name}[{', '.join(subscripts)}] = {e.text}")

        def run(env):
            self.scatter(env, tensor.name, e, order, shift, axes, lambda old, new: new)
        return run

    def transcendental(self, e, stored):
        name, function = self.rng.choice((("exp", np.exp), ("tanh", np.tanh), ("sin", np.sin), ("cos", np.cos),
                                          ("sigmoid", lambda x: 1 / (1 + np.exp(-x)))))
        return cast(Expr(f"{name}({e.text})", "f32", e.axes, lambda env: function(e.run(env)).astype(np.float32), 4096,
                         True), stored)

    @staticmethod
    def scatter(env, tensor, e, order, shift, axes, combine):
        data = env.tensors[tensor]
        places = [env.axes[n] if n in env.axes else np.array([env.indices[n]]) for n, _ in order] or [np.zeros(1, int)]
        places[0] = places[0] + shift
        full = e.over(env, axes)
        full = np.broadcast_to(full, [len(env.axes[a]) for a in sorted(axes)])
        names = sorted(axes)
        full = full.transpose([names.index(n) for n, _ in order if n in axes])
        full = full.reshape([len(p) for p in places])
        keep = [(p >= 0) & (p < n) for p, n in zip(places, data.shape)]
        where = np.ix_(*[p[k] for p, k in zip(places, keep)])
        data[where] = combine(data[where], full[np.ix_(*keep)].astype(data.dtype))

    def atomic(self):
        axes = frozenset(a for a in self.some_axes())
        type_name = self.rng.choice(("i32", "u32", "i64", "f32", "f64"))
        operators = ("+=", "+=", "max=", "min=") + (() if type_name in values.FLOATS else ("&=", "|=", "^="))
        operator = self.rng.choice(operators)
        e = cast(self.expression(type_name, axes, 2), type_name)
        if type_name in values.FLOATS and e.bound > 64:
            e = clamped(e)
        order = [(a, self.axes[a].dimension) for a in axes]
        self.rng.shuffle(order)
        tensor = Tensor(self.fresh("Z"), type_name, "inout", [d for _, d in order] or [1])
        self.program.tensors[tensor.name] = tensor
        subscripts = [n for n, _ in order] or ["0"]
        self.emit(f"atomic {tensor.name}[{', '.join(subscripts)}] {operator} {e.text}")
        combine = values.BINARY[operator[:-1]]

        def run(env):
            self.scatter(env, tensor.name, e, order, 0, axes, lambda old, new: combine(old, new).astype(old.dtype))
        return run
