"""Mutations of examples, conformance cases and generated programs: most are wrong, all must end with diagnostics."""
import glob
import os
import random
import re

from generator import Generator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOKEN = re.compile(rb"\s+|//[^\n]*|[A-Za-z_]\w*|\d[\w.]*|==|!=|<=|>=|\.\.|->|&&|\|\||<<|>>|[-+*/&|^]=|.", re.S)
WORDS = [b"0", b"1", b"-1", b"3", b"64", b"256", b"257", b"1000", b"4096", b"100000", b"2147483648",
         b"9223372036854775807", b"99999999999999999999", b"0.5", b"1e400", b"inf", b"nan", b"true", b"f32", b"bf16",
         b"f16", b"f64", b"i8", b"u8", b"i32", b"i64", b"index", b"bool", b"u4", b"tf32", b"f8e4m3", b"(", b")", b"[",
         b"]", b"{", b"}", b",", b";", b"\n", b"..", b"+", b"-", b"*", b"/", b"%", b"<", b"<<", b"==", b"=", b"+=",
         b"max=", b"else", b"where", b"if", b"for", b"while", b"parallel", b"axis", b"let", b"var", b"atomic",
         b"unique", b"in", b"tiles", b"reverse", b"auto", b"out", b"inout", b"dim", b"strides", b"dynamic", b"temp",
         b"sum", b"dot", b"max", b"argmax", b"softmax", b"select", b"exp2", b"@stages(64)", b"@stages(0)", b"@warps(3)",
         b"@warps(64)", b"@unroll(100000)", b"@maxregs(1)", b"@cluster(2, 1)", b"\"", b"/*", b"\xff", b"\0", b"import"]


def sources():
    """The programs that mutations start from, in a fixed order."""
    found = sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.tile")))
    return found + sorted(glob.glob(os.path.join(ROOT, "test", "Conformance", "*", "kernel.tile")))


def change(tokens, rng, pool):
    """One edit of a token list."""
    spots = [i for i, t in enumerate(tokens) if t.strip()]
    if not spots:
        return tokens
    i = rng.choice(spots)
    kind = rng.randrange(7)
    if kind == 0:
        return tokens[:i] + tokens[i + 1:]
    if kind == 1:
        return tokens[:i] + [rng.choice(WORDS)] + tokens[i + 1:]
    if kind == 2:
        return tokens[:i] + [rng.choice(WORDS), b" "] + tokens[i:]
    if kind == 3:                                              # a name, number or operator for another of its kind
        same = [t for t in pool if t.strip() and t[:1].isalpha() == tokens[i][:1].isalpha()
                and t[:1].isdigit() == tokens[i][:1].isdigit()]
        return tokens[:i] + [rng.choice(same or WORDS)] + tokens[i + 1:]
    if kind == 4:
        j = rng.choice(spots)
        tokens = list(tokens)
        tokens[i], tokens[j] = tokens[j], tokens[i]
        return tokens
    if kind == 5:                                              # a number for another
        numbers = [s for s in spots if tokens[s].isdigit()]
        if not numbers:
            return tokens
        i = rng.choice(numbers)
        return tokens[:i] + [str(rng.choice((0, 1, 2, 3, 5, 7, 8, 16, 24, 48, 80, 128, 255, 256, 512, 1024, 8192,
                                             65536, 1 << 20, 1 << 31, 1 << 40))).encode()] + tokens[i + 1:]
    j = min(len(tokens), i + rng.randint(1, 12))
    return tokens[:j] + tokens[i:j] + tokens[j:]


def mutate(seed):
    """(source, options) of a seed."""
    rng = random.Random(seed)
    names = sources()
    at = rng.randrange(len(names) + len(names) // 3)
    if at < len(names):
        with open(names[at], "rb") as f:
            text = f.read()
    else:
        text = Generator(seed, annotations=True).generate().text.encode()
    tokens = TOKEN.findall(text)
    pool = tokens
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        tokens = change(tokens, rng, pool)
    options = []
    if rng.random() < 0.1:
        options = ["-D", rng.choice(("BM=0", "BM=1", "BK=-1", "D=7", "BN=100000", "BM=3", "D=64", "BQ=1", "T=f32"))]
    return b"".join(tokens), options
