"""A program under construction: its parameters, the scopes of its names, and a reference evaluation beside the text."""
import numpy as np

import refutil
import values


class Axis:
    """dimension: the extent of a tensor that the axis subscripts, a name or a number; extent: its constant bound."""

    def __init__(self, name, dimension, extent, tiled):
        self.name, self.dimension, self.extent, self.tiled = name, dimension, extent, tiled


class Expr:
    """A piece of source with its type, its axes, and run(env), which gives an array over the sorted axes.

    bound: no element is greater in magnitude; inexact: rounding may depend on the order of evaluation.
    """

    def __init__(self, text, type_name, axes, run, bound=1 << 40, inexact=False):
        self.text, self.type, self.axes, self.run = text, type_name, frozenset(axes), run
        self.bound, self.inexact = bound, inexact

    def over(self, env, axes):
        return values.spread(self.run(env), sorted(self.axes), sorted(axes))


class Tensor:
    """A parameter. contents(sizes, generator) makes its input; tolerance is relative to the greatest result."""

    def __init__(self, name, type_name, access, shape, low=-2, high=2):
        self.name, self.type, self.access, self.shape = name, type_name, access, shape
        self.low, self.high, self.inexact = low, high, False

    def declaration(self):
        access = "" if self.access == "in" else self.access + " "
        return f"{access}{self.name}: {self.type}[{', '.join(map(str, self.shape))}]"

    def extents(self, sizes):
        return [sizes[e] if isinstance(e, str) else e for e in self.shape]

    def contents(self, sizes, generator):
        low = 0 if self.type.startswith("u") else self.low
        return refutil.ints(generator, self.extents(sizes), low, self.high)


class Env:
    """The state of the reference evaluation. axes: positions present; values: arrays over sorted axes."""

    def __init__(self, sizes, scalars, tensors):
        self.sizes, self.scalars, self.tensors = sizes, scalars, tensors
        self.axes, self.values, self.indices = {}, {}, {}


class Program:
    """name: of the kernel; text: the source; dims: name -> greatest size; scalars: name -> value."""

    def __init__(self):
        self.name, self.text = "k", ""
        self.dims, self.scalars, self.tensors, self.functions, self.body = {}, {}, {}, {}, None

    def inputs(self, sizes, generator):
        return {t.name: refutil.tensor(t.type, t.contents(sizes, generator)) for t in self.tensors.values()
                if t.access != "out"}

    def expected(self, sizes, inputs):
        """Tensor name -> array of float64 or integers; elements that no store reaches are NaN or -1 in `out`."""
        tensors = {}
        for t in self.tensors.values():
            if t.access == "out":
                tensors[t.name] = np.zeros(t.extents(sizes), values.dtype(t.type))
            else:
                tensors[t.name] = np.array(refutil.values(inputs[t.name])).astype(values.dtype(t.type))
        env = Env(sizes, self.scalars, tensors)
        with np.errstate(all="ignore"):
            self.body(env)
        return {t.name: env.tensors[t.name] for t in self.tensors.values() if t.access != "in"}
