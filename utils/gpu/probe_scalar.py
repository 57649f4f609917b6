"""The scalar instruction forms of the probe: text, types of operands and result, allowed error.

A form is one PTX instruction over $d, $a, $b, $c. Types name both the register's width and the data that operands hold.
"""
ROUNDINGS = ("rn", "rz", "rm", "rp")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")

# Bits of the register of a type.
WIDTH = {"u8": 16, "s8": 16, "u16": 16, "s16": 16, "b16": 16, "u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64,
         "b64": 64, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "f32": 32, "f64": 64, "tf32": 32, "e4m3x2": 16,
         "e5m2x2": 16, "pred": 1, "shift": 32, "nonzero32": 32, "nonzero64": 64, "nonzero16": 16, "lane": 32, "offset": 32}


class Form:
    """text: PTX with $d, $a, $b, $c; operands and result: names of types; ulps: allowed distance, None for equal bits;
    absolute: an error that is allowed besides; family: the table's group."""

    def __init__(self, family, text, result, *operands, ulps=None, absolute=None, name=None):
        self.absolute, self.title = absolute, name
        self.family, self.text, self.result, self.operands, self.ulps = family, text, result, operands, ulps

    @property
    def name(self):
        if self.title:
            return self.title
        return self.text.split(" ")[0] + ("" if "0x" not in self.text else " " + self.text.split(", ")[-1].rstrip(";"))


def integer_forms():
    for t in INTEGERS:
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield Form("integer", f"{op}.{t} $d, $a, $b;", t, t, t)
        for op in ("mad.lo", "mad.hi"):
            yield Form("integer", f"{op}.{t} $d, $a, $b, $c;", t, t, t, t)
        for op in ("div", "rem"):
            yield Form("integer", f"{op}.{t} $d, $a, $b;", t, t, "nonzero" + t[1:])
        for op in COMPARISONS:
            yield Form("compare", f"setp.{op}.{t} $d, $a, $b;", "pred", t, t)
            yield Form("compare", f".reg .pred %q1; setp.ne.{t} %q1, $b, 0; setp.{op}.xor.{t} $d, $a, $b, !%q1;", "pred", t, t,
                       name=f"setp.{op}.xor.{t}")
            yield Form("compare", f"set.{op}.u32.{t} $d, $a, $b;", "u32", t, t)
        yield Form("integer", f"slct.{t.replace('u', 'b').replace('s', 'b')}.s32 $d, $a, $b, $c;", t, t, t, "s32")
        yield Form("integer", f"slct.{t}.f32 $d, $a, $b, $c;", t, t, t, "f32")
        yield Form("integer", f"sad.{t} $d, $a, $b, $c;", t, t, t, t)
        yield Form("integer", f"selp.{t.replace('s', 'u')} $d, $a, $b, 1;", t, t, t)
        if t[0] == "s":
            yield Form("integer", f"abs.{t} $d, $a;", t, t)
            yield Form("integer", f"neg.{t} $d, $a;", t, t)
    for t, wide in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
        yield Form("integer", f"mul.wide.{t} $d, $a, $b;", wide, t, t)
        yield Form("integer", f"mad.wide.{t} $d, $a, $b, $c;", wide, t, t, wide)
    for op in ("add", "sub"):
        yield Form("integer", f"{op}.sat.s32 $d, $a, $b;", "s32", "s32", "s32")
    for t in ("u32", "s32"):
        for part in ("lo", "hi"):
            yield Form("integer", f"mul24.{part}.{t} $d, $a, $b;", t, t, t)
            yield Form("integer", f"mad24.{part}.{t} $d, $a, $b, $c;", t, t, t, t)
        for other in ("u32", "s32"):
            yield Form("integer", f"dp4a.{t}.{other} $d, $a, $b, $c;", t, t, t, t)
            for half in ("lo", "hi"):
                yield Form("integer", f"dp2a.{half}.{t}.{other} $d, $a, $b, $c;", t, t, t, t)
    for t in ("u32", "s32", "u64", "s64"):
        zero = f".reg .b{t[1:]} %z0; mov.b{t[1:]} %z0, 0;"
        for op in ("add", "sub"):
            yield Form("integer", f"{zero} {op}.cc.{t} %z0, $a, $b; {op}c.{t} $d, $c, %z0;", t, t, t, t, name=f"{op}.cc, {op}c.{t}")
        for part in ("lo", "hi"):
            yield Form("integer", f"{zero} mad.{part}.cc.{t} %z0, $a, $b, $c; addc.{t} $d, $a, %z0;", t, t, t, t,
                       name=f"mad.{part}.cc, addc.{t}")
            yield Form("integer", f"{zero} add.cc.{t} %z0, $a, $b; madc.{part}.{t} $d, $a, $c, %z0;", t, t, t, t,
                       name=f"add.cc, madc.{part}.{t}")
    yield Form("integer", "mad24.hi.sat.s32 $d, $a, $b, $c;", "s32", "s32", "s32", "s32")
    yield Form("integer", "mad.hi.sat.s32 $d, $a, $b, $c;", "s32", "s32", "s32", "s32")


def bit_forms():
    for t in ("b16", "b32", "b64"):
        for op in ("and", "or", "xor"):
            yield Form("bits", f"{op}.{t} $d, $a, $b;", t, t, t)
        yield Form("bits", f"not.{t} $d, $a;", t, t)
        yield Form("bits", f"cnot.{t} $d, $a;", t, t)
        yield Form("bits", f"shl.{t} $d, $a, $b;", t, t, "shift")
    for t in INTEGERS:
        yield Form("bits", f"shr.{t} $d, $a, $b;", t, t, "shift")
    for t in ("b32", "b64"):
        for op in ("popc", "clz"):
            yield Form("bits", f"{op}.{t} $d, $a;", "u32", t)
        yield Form("bits", f"brev.{t} $d, $a;", t, t)
        yield Form("bits", f"bfi.{t} $d, $a, $b, $c, 9;", t, t, t, "shift")
    for t in ("u32", "s32", "u64", "s64"):
        yield Form("bits", f"bfe.{t} $d, $a, $b, $c;", t, t, "shift", "shift")
        yield Form("bits", f"bfind.{t} $d, $a;", "u32", t)
        yield Form("bits", f"bfind.shiftamt.{t} $d, $a;", "u32", t)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield Form("bits", f"prmt.b32{mode} $d, $a, $b, $c;", "b32", "b32", "b32", "b32")
    for op in ("shf.l.wrap", "shf.l.clamp", "shf.r.wrap", "shf.r.clamp"):
        yield Form("bits", f"{op}.b32 $d, $a, $b, $c;", "b32", "b32", "b32", "shift")
    for table in ("0x96", "0xe8", "0x1b"):
        yield Form("bits", f"lop3.b32 $d, $a, $b, $c, {table};", "b32", "b32", "b32", "b32")
    yield Form("bits", "fns.b32 $d, $a, $b, $c;", "b32", "b32", "lane", "offset")
    for mode in ("clamp", "wrap"):
        yield Form("bits", f"bmsk.{mode}.b32 $d, $a, $b;", "b32", "shift", "shift")
        for t in ("u32", "s32"):
            yield Form("bits", f"szext.{mode}.{t} $d, $a, $b;", t, t, "shift")
    for t in ("u16", "s16"):
        yield Form("bits", f"cvt.pack.sat.{t}.s32 $d, $a, $b;", "b32", "s32", "s32")
    for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield Form("bits", f"cvt.pack.sat.{t}.s32.b32 $d, $a, $b, $c;", "b32", "s32", "s32", "b32")


def float_forms():
    for t in ("f32", "f64"):
        flushes = ("", ".ftz") if t == "f32" else ("",)
        for rounding in ROUNDINGS:
            for flush in flushes:
                for sat in ("", ".sat") if t == "f32" else ("",):
                    for op in ("add", "sub", "mul"):
                        yield Form("float", f"{op}.{rounding}{flush}{sat}.{t} $d, $a, $b;", t, t, t)
                    yield Form("float", f"fma.{rounding}{flush}{sat}.{t} $d, $a, $b, $c;", t, t, t, t)
                yield Form("float", f"div.{rounding}{flush}.{t} $d, $a, $b;", t, t, t)
                for op in ("rcp", "sqrt"):
                    yield Form("float", f"{op}.{rounding}{flush}.{t} $d, $a;", t, t)
        for flush in flushes:
            for op in ("min", "max"):
                for nan in ("", ".NaN") if t == "f32" else ("",):
                    for sign in ("", ".xorsign.abs") if t == "f32" else ("",):
                        yield Form("float", f"{op}{flush}{nan}{sign}.{t} $d, $a, $b;", t, t, t)
            for op in ("neg", "abs"):
                yield Form("float", f"{op}{flush}.{t} $d, $a;", t, t)
            for op in COMPARISONS + UNORDERED:
                yield Form("compare", f"setp.{op}{flush}.{t} $d, $a, $b;", "pred", t, t)
        yield Form("float", f"copysign.{t} $d, $a, $b;", t, t, t)
        yield Form("float", f"selp.{t} $d, $a, $b, 1;", t, t, t)
        for op in COMPARISONS + UNORDERED:
            for result in ("u32", "s32", "f32"):
                yield Form("compare", f"set.{op}.{result}.{t} $d, $a, $b;", "u32", t, t)
        for op in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield Form("compare", f"testp.{op}.{t} $d, $a;", "pred", t)


def approximate_forms():
    """Errors: PTX ISA, tables of maximum errors."""
    for flush in ("", ".ftz"):
        yield Form("approximate", f"div.approx{flush}.f32 $d, $a, $b;", "f32", "f32", "f32", ulps=2)
        yield Form("approximate", f"div.full{flush}.f32 $d, $a, $b;", "f32", "f32", "f32", ulps=2)
        yield Form("approximate", f"rcp.approx{flush}.f32 $d, $a;", "f32", "f32", ulps=1)
        yield Form("approximate", f"sqrt.approx{flush}.f32 $d, $a;", "f32", "f32", ulps=4)
        yield Form("approximate", f"rsqrt.approx{flush}.f32 $d, $a;", "f32", "f32", ulps=4)
        yield Form("approximate", f"ex2.approx{flush}.f32 $d, $a;", "f32", "f32", ulps=4)
        yield Form("approximate", f"lg2.approx{flush}.f32 $d, $a;", "f32", "positive32", ulps=8,
                   absolute=2.0 ** -22)
    yield Form("approximate", "rcp.approx.ftz.f64 $d, $a;", "f64", "f64", ulps=1 << 33)
    yield Form("approximate", "rsqrt.approx.f64 $d, $a;", "f64", "f64", ulps=1 << 33)
    yield Form("approximate", "tanh.approx.f32 $d, $a;", "f32", "f32", ulps=1 << 13)
    for t in ("f16", "f16x2"):
        yield Form("approximate", f"ex2.approx.{t} $d, $a;", t, t, ulps=2)
        yield Form("approximate", f"tanh.approx.{t} $d, $a;", t, t, ulps=2)
    for t in ("bf16", "bf16x2"):
        yield Form("approximate", f"ex2.approx.ftz.{t} $d, $a;", t, t, ulps=2)
        yield Form("approximate", f"tanh.approx.{t} $d, $a;", t, t, ulps=2)


def half_forms():
    for t in ("f16", "f16x2", "bf16", "bf16x2"):
        flushes = ("", ".ftz") if t[0] == "f" else ("",)
        for flush in flushes:
            for sat in ("", ".sat") if t[0] == "f" else ("",):
                for op in ("add", "sub", "mul"):
                    for rounding in ("", ".rn"):
                        yield Form("half", f"{op}{rounding}{flush}{sat}.{t} $d, $a, $b;", t, t, t)
                yield Form("half", f"fma.rn{flush}{sat}.{t} $d, $a, $b, $c;", t, t, t, t)
            yield Form("half", f"fma.rn{flush}.relu.{t} $d, $a, $b, $c;", t, t, t, t)
            for op in ("min", "max"):
                for nan in ("", ".NaN"):
                    for sign in ("", ".xorsign.abs"):
                        yield Form("half", f"{op}{flush}{nan}{sign}.{t} $d, $a, $b;", t, t, t)
            for op in ("neg", "abs"):
                yield Form("half", f"{op}{flush}.{t} $d, $a;", t, t)
        for op in COMPARISONS + ("equ", "neu", "ltu", "num", "nan") if "x2" not in t else ():
            for flush in flushes:
                yield Form("compare", f"setp.{op}{flush}.{t} $d, $a, $b;", "pred", t, t)
        for op in COMPARISONS + UNORDERED if "x2" in t else ():
            for flush in flushes:
                yield Form("compare", f".reg .pred %q1, %q2; setp.{op}{flush}.{t} %q1|%q2, $a, $b; xor.pred $d, %q1, %q2;", "pred", t,
                           t, name=f"setp.{op}{flush}.{t}")
                yield Form("compare", f".reg .pred %q1, %q2; setp.{op}{flush}.{t} %q1|%q2, $a, $b; and.pred $d, %q1, %q2;", "pred", t,
                           t, name=f"setp.{op}{flush}.{t} (and)")


def conversion_forms():
    floats, integers = ("f16", "bf16", "f32", "f64"), ("s8", "u8") + INTEGERS
    for d in integers:
        for s in integers:
            for sat in ("", ".sat"):
                yield Form("convert", f"cvt{sat}.{d}.{s} $d, $a;", d, s)
        for s in floats:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                for flush in ("", ".ftz") if s == "f32" else ("",):
                    yield Form("convert", f"cvt.{rounding}{flush}.{d}.{s} $d, $a;", d, s)
            for rounding in ROUNDINGS:
                yield Form("convert", f"cvt.{rounding}.{s}.{d} $d, $a;", s, d)
    for d in floats:
        for s in floats:
            for rounding in ("",) + tuple("." + r for r in ROUNDINGS + ("rni", "rzi", "rmi", "rpi")):
                for flush in ("", ".ftz"):
                    for sat in ("", ".sat"):
                        yield Form("convert", f"cvt{rounding}{flush}{sat}.{d}.{s} $d, $a;", d, s)
    for d in ("f16", "bf16"):
        for rounding in ("rn", "rz"):
            for tail in (".relu", ".satfinite", ".relu.satfinite"):
                yield Form("convert", f"cvt.{rounding}{tail}.{d}.f32 $d, $a;", d, "f32")
            for tail in ("", ".relu", ".satfinite", ".relu.satfinite"):
                yield Form("convert", f"cvt.{rounding}{tail}.{d}x2.f32 $d, $a, $b;", d + "x2", "f32", "f32")
    for rounding in ("rn", "rz", "rna"):
        for tail in ("", ".relu", ".satfinite", ".relu.satfinite"):
            yield Form("convert", f"cvt.{rounding}{tail}.tf32.f32 $d, $a;", "tf32", "f32")
    for d in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield Form("convert", f"cvt.rn.satfinite{relu}.{d}.f32 $d, $a, $b;", d, "f32", "f32")
            yield Form("convert", f"cvt.rn.satfinite{relu}.{d}.f16x2 $d, $a;", d, "f16x2")
            yield Form("convert", f"cvt.rn{relu}.f16x2.{d} $d, $a;", "f16x2", d)


def load_forms():
    """Loads into wider registers, and vectors; %p is where operand a lies."""
    for t in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32"):
        for wide in ("u16", "u32", "u64"):
            if int(wide[1:]) >= int(t[1:]):
                yield Form("memory", f"ld.global.{t} $d, [%p];", wide, "u64", name=f"ld.global.{t} into {wide[1:]} bits")
    for how in ("nc", "relaxed.gpu", "acquire.gpu", "volatile"):
        where = f"{how}.global" if how != "nc" else "global.nc"
        for t in ("u16", "u32", "u64", "f32", "f64"):
            yield Form("memory", f"ld.{where}.{t} $d, [%p];", t if t[0] == "u" else "u" + t[1:], "u64")
    for count, t in ((2, "u8"), (4, "u8"), (2, "s16"), (4, "s16"), (2, "u32")):
        names = [f"%q{i}" for i in range(count)]
        sum_ = " ".join(f"shl.b32 $d, $d, 5; xor.b32 $d, $d, {n};" for n in names)
        yield Form("memory", f".reg .b32 {', '.join(names)}; ld.global.v{count}.{t} {{{', '.join(names)}}}, [%p]; mov.b32 $d, 0; {sum_}",
                   "u32", "u64", name=f"ld.global.v{count}.{t}")


def forms():
    """All of them, each text once."""
    seen = set()
    for group in (integer_forms, bit_forms, float_forms, approximate_forms, half_forms, conversion_forms, load_forms):
        for form in group():
            if form.text not in seen:
                seen.add(form.text)
                yield form
