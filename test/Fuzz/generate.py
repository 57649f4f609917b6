"""generate.py KIND: writes a source of an extreme shape to standard output."""
import sys

HEAD = "kernel k(X: f32[M], out Y: f32[M]) {\n  parallel m in tiles(M, 64) {\n"
TAIL = "  }\n}\n"
SHAPES = {
    "parentheses": lambda: HEAD + "Y[m] = " + "(" * 200000 + "X[m]" + ")" * 200000 + "\n" + TAIL,
    "signs": lambda: HEAD + "Y[m] = " + "-" * 100000 + "X[m]\n" + TAIL,
    "sums": lambda: HEAD + "Y[m] = " + " + ".join(["X[m]"] * 20000) + "\n" + TAIL,
    "branches": lambda: HEAD + "if M > 1 {\n" * 5000 + "Y[m] = X[m]\n" + "}\n" * 5000 + TAIL,
    "subscripts": lambda: HEAD + "Y[m] = X[" + "m + X[" * 3000 + "0" + "]" * 3001 + "\n" + TAIL,
    "calls": lambda: "fn g0(x: f32) -> f32 { x + 1 }\n" + "".join(
        f"fn g{i}(x: f32) -> f32 {{ g{i - 1}(x) + g{i - 1}(x) }}\n" for i in range(1, 40)) + HEAD +
        "Y[m] = g39(X[m])\n" + TAIL,
    "name": lambda: "x" * 10000000,
    "number": lambda: "const A: i32 = " + "9" * 1000000 + "\n",
    "comments": lambda: "// a line of a long file .......................\n" * 200000 + HEAD + "Y[m] = X[m]\n" + TAIL,
    "errors": lambda: "".join(f"kernel k{i}(X: f32[M], out Y: f32[M]) {{ Y[0] = X[q{i}] }}\n" for i in range(20000)),
    "loops": lambda: HEAD + "var v: f32[m] = 0\n" + "".join(
        f"for q{i} in tiles(M, 16) {{\nv += sum[q{i}](X[q{i}])\n" for i in range(40)) + "}\n" * 40 + "Y[m] = v\n" + TAIL,
    "statements": lambda: HEAD + "var x: f32[m] = X[m]\n" + "x = x * x + 1\n" * 2000 + "Y[m] = x\n" + TAIL,
    "bytes": lambda: "".join(map(chr, range(1, 256))) * 40,
}

sys.stdout.write(SHAPES[sys.argv[1]]())
