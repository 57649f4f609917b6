"""Matrix products, attention and row reductions with random tile sizes and annotations: the plan must not matter."""
import random

import numpy as np

import values
from program import Program, Tensor

# Element type -> the type of the accumulator.
FACTORS = {"bf16": "f32", "f16": "f32", "f8e4m3": "f32", "f8e5m2": "f32", "f32": "f32", "i8": "i32", "u8": "u32"}
ROWS = (8, 16, 32, 48, 64, 64, 96, 128, 128, 192, 256)
INNER = (8, 16, 32, 32, 48, 64, 64, 128)
SIZES = (1, 7, 16, 63, 64, 65, 100, 128, 130, 200)


class Plan:
    """One random program. program: with its reference; sizes(): of its dimensions."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.program = Program()
        self.rng.choice((self.product, self.product, self.attention, self.row))()

    def sizes(self):
        return {name: self.rng.choice([s for s in SIZES if s <= most]) for name, most in self.program.dims.items()}

    def tensor(self, name, type_name, shape, access="in", inexact=False):
        tensor = Tensor(name, type_name, access, shape)
        tensor.inexact = inexact
        self.program.tensors[name] = tensor
        return tensor.declaration()

    def annotation(self, *choices):
        """A line with one of the annotations, or nothing."""
        return self.rng.choice(choices + ("",) * len(choices))

    def warps(self):
        return self.annotation(f"@warps({self.rng.choice((1, 2, 4, 8, 16))})")

    def loop(self):
        return self.annotation(f"@stages({self.rng.randint(1, 6)})", f"@unroll({self.rng.choice((2, 3, 4))})")

    def kernel(self):
        return self.annotation(f"@maxregs({self.rng.choice((64, 128, 255))})", "@no_tma")

    def finish(self, parameters, lines, body):
        head = f"kernel {self.program.name}({', '.join(parameters)}) {{"
        self.program.text = "\n".join(line for line in [self.kernel(), head, *lines, "}", ""] if line)
        self.program.body = body

    def product(self):
        """C = A B, transposed operands, a bias or a batch."""
        kind = self.rng.choice(list(FACTORS))
        total, batched = FACTORS[kind], self.rng.random() < 0.3
        order = {name: list(shape) if self.rng.random() < 0.6 else list(reversed(shape))
                 for name, shape in (("A", "MK"), ("B", "NK"))}
        batch = ["G"] if batched else []
        self.program.dims = {"M": 200, "N": 200, "K": 200, **({"G": 7} if batched else {})}
        bias = self.rng.random() < 0.4
        parameters = [self.tensor(n, kind, batch + order[n]) for n in ("A", "B")]
        parameters += [self.tensor("E", total, ["N"])] if bias else []
        parameters.append(self.tensor("C", total, batch + ["M", "N"], "out"))
        axis = {"M": "m", "N": "n", "K": "k"}
        factor = lambda n: f"{n}[{', '.join((['g'] if batched else []) + [axis[d] for d in order[n]])}]"
        ranges = ["g in 0..G"] if batched else []
        ranges += [f"{axis[d]} in tiles({d}, {self.rng.choice(ROWS)})" for d in "MN"]
        lines = [self.warps(), f"parallel {', '.join(ranges)} {{", f"  var c: {total}[m, n] = 0", self.loop(),
                 f"  for k in tiles(K, {self.rng.choice(INNER)}) {{",
                 f"    c += dot[k]({factor('A')}, {factor('B')})", "  }",
                 f"  C[{'g, ' if batched else ''}m, n] = c{' + E[n]' if bias else ''}", "}"]

        def body(env):
            a, b = (np.asarray(env.tensors[n], np.float64) for n in ("A", "B"))
            a = a if order["A"][-1] == "K" else a.swapaxes(-1, -2)
            b = b.swapaxes(-1, -2) if order["B"][-1] == "K" else b
            c = a @ b + (np.asarray(env.tensors["E"], np.float64) if bias else 0)
            env.tensors["C"] = c.astype(np.int64).astype(values.dtype(total)) if total in values.INTEGERS \
                else c.astype(np.float32)
        self.finish(parameters, lines, body)

    def attention(self):
        """Softmax of a product of queries and keys, times values, in one pass."""
        width, causal = self.rng.choice((16, 32, 64, 80, 128)), self.rng.random() < 0.5
        kind = self.rng.choice(("bf16", "f16"))
        self.program.dims = {"H": 7, "S": 200, "T": 200}
        parameters = [self.tensor(n, kind, ["H", d, width]) for n, d in (("Q", "S"), ("K", "T"), ("V", "T"))]
        parameters.append(self.tensor("O", "f32", ["H", "S", width], "out", inexact=True))
        queries, keys = self.rng.choice((16, 32, 64, 64, 128)), self.rng.choice((8, 16, 32, 64, 64, 128))
        mask = "      s = select(t <= q, s, -inf)" if causal else ""
        limit = "min(T, q.end)" if causal else "T"
        lines = [self.warps(), f"parallel h in 0..H, q in tiles(S, {queries}) {{", f"  axis d = 0..{width}",
                 "  var top: f32[q] = f32.lowest", "  var total: f32[q] = 0", "  var acc: f32[q, d] = 0",
                 self.loop(), f"  for t in tiles(0..{limit}, {keys}) {{",
                 "      var s = dot[d](Q[h, q, d], K[h, t, d]) * 0.05", mask, "      let new = max(top, max[t](s))",
                 "      let p = exp(s - new)", "      let r = exp(top - new)",
                 "      total = total * r + sum[t](p)", f"      acc = acc * r + dot[t]({kind}(p), V[h, t, d])",
                 "      top = new", "  }", "  O[h, q, d] = select(total > 0, acc / total, 0)", "}"]

        def body(env):
            q, k, v = (np.asarray(env.tensors[n], np.float64) for n in "QKV")
            s = q @ k.swapaxes(1, 2) * 0.05
            if causal:
                s = np.where(np.arange(s.shape[2]) <= np.arange(s.shape[1])[:, None], s, -np.inf)
            p = np.exp(s - s.max(2, initial=-1e30, keepdims=True))
            env.tensors["O"] = (p @ v / np.maximum(p.sum(2, keepdims=True), 1e-300)).astype(np.float32)
        self.finish(parameters, lines, body)

    def row(self):
        """Rows minus their maximum, divided by their sum: two loops over the same data."""
        kind = self.rng.choice(("f32", "bf16", "f16"))
        self.program.dims = {"M": 100, "N": 200}
        parameters = [self.tensor("X", kind, ["M", "N"]), self.tensor("Y", "f32", ["M", "N"], "out")]
        rows, columns = self.rng.choice((1, 1, 2, 4, 8, 16, 33)), self.rng.choice((8, 32, 64, 100, 128, 256))
        lines = [self.warps(), f"parallel m in tiles(M, {rows}) {{", "  var top: f32[m] = -9",
                 "  var total: f32[m] = 0", self.loop(), f"  for n in tiles(N, {columns}) {{",
                 "    top = max(top, max[n](f32(X[m, n])))",
                 "    total += sum[n](X[m, n] + 4)", "  }", self.loop(), f"  for n in tiles(N, {columns}) {{",
                 "    Y[m, n] = (X[m, n] - top) * total", "  }", "}"]

        def body(env):
            x = np.asarray(env.tensors["X"], np.float64)
            top, total = x.max(1, initial=-9, keepdims=True), (x + 4).sum(1, keepdims=True)
            env.tensors["Y"] = ((x - top) * total).astype(np.float32)
        self.finish(parameters, lines, body)
