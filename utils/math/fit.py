#!/usr/bin/env python3
"""Prints the coefficients of lib/Conversion/TileGPUToNVVM/MathCoefficients.h.

Each polynomial interpolates its function at Chebyshev points, computed with 60 digits, so that its error is within a
small factor of the best possible one. Redirect the output there and run clang-format on it.
"""
from decimal import Decimal as D, getcontext
import struct

getcontext().prec = 80


def pi():
    def arctan_inverse(n):
        total, power, k = D(0), D(1) / n, 0
        while abs(power) > D(10) ** -78:
            total += power / (2 * k + 1) * (-1) ** k
            power /= n * n
            k += 1
        return total
    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


PI = pi()
LN2 = D(2).ln()


def series(term_ratio, z, first=D(1)):
    """Sum of terms t(0) = first, t(k + 1) = t(k) * term_ratio(k, z)."""
    total, term, k = D(0), first, 0
    while abs(term) > D(10) ** -75:
        total += term
        term *= term_ratio(k, z)
        k += 1
    return total


def sin_rest(z):
    """(sin(r) / r - 1) / z for z = r * r."""
    return series(lambda k, z: -z / ((2 * k + 4) * (2 * k + 5)), z, D(-1) / 6)


def cos_rest(z):
    """(cos(r) - 1 + z / 2) / z**2."""
    return series(lambda k, z: -z / ((2 * k + 5) * (2 * k + 6)), z, D(1) / 24)


def exp_rest(r):
    """(exp(r) - 1 - r) / r**2."""
    return series(lambda k, r: r / (k + 3), r, D(1) / 2)


def log_rest(z):
    """(log((1 + s) / (1 - s)) - 2 s) / s**3 for z = s * s."""
    total, power, k = D(0), D(1), 1
    while power > D(10) ** -75:
        total += 2 * power / (2 * k + 1)
        power *= z
        k += 1
    return total


def log_tail(z):
    """The same without its first term 2/3, over z."""
    total, power, k = D(0), D(1), 2
    while power > D(10) ** -75:
        total += 2 * power / (2 * k + 1)
        power *= z
        k += 1
    return total


def tanh_rest(z):
    """(tanh(x) / x - 1) / z for z = x * x."""
    z = max(z, D(10) ** -20)
    x = z.sqrt()
    power = (2 * x).exp()
    return ((power - 1) / (power + 1) / x - 1) / z


def erf_over_x(z):
    """erf(x) / x - 1 for z = x * x."""
    total, term, k = D(0), D(1), 0
    while abs(term) > D(10) ** -75:
        total += term / (2 * k + 1)
        k += 1
        term *= -z / k
    return total * 2 / PI.sqrt() - 1


def scaled_erfc(x):
    """exp(x * x) * erfc(x) by the continued fraction (x >= 1)."""
    fraction = D(0)
    for k in range(4000 if x < 2 else 600, 0, -1):
        fraction = (D(k) / 2) / (x + fraction)
    return 1 / (PI.sqrt() * (x + fraction))


ERFC_POLE = 3


def erfc_in_t(t):
    """scaled_erfc at x with t = (x - 3) / (x + 3)."""
    return scaled_erfc(ERFC_POLE * (1 + t) / (1 - t))


def log1p_rest(f):
    """(log(1 + f) - f) / f**2."""
    if abs(f) < D(10) ** -20:
        return D(-1) / 2 + f / 3
    return ((1 + f).ln() - f) / (f * f)


def erfc_exponent(x):
    """log2(erfc(x)) / x."""
    return ((scaled_erfc(x)).ln() - x * x) / LN2 / x


def erfc_exponent_from_zero(x):
    """The same for x >= 0."""
    if x > 2:
        return erfc_exponent(x)
    x = max(x, D(10) ** -20)
    return (1 - x * (1 + erf_over_x(x * x))).ln() / LN2 / x


def cosine(x):
    return series(lambda k, z: -z / ((2 * k + 1) * (2 * k + 2)), x * x)


def interpolate(function, low, high, degree):
    """Coefficients, lowest first, of the polynomial through the Chebyshev points."""
    n = degree + 1
    low, high = D(str(low)), D(str(high))
    nodes = [(low + high) / 2 + (high - low) / 2 * cosine(PI * (2 * i + 1) / (2 * n)) for i in range(n)]
    table = [function(x) for x in nodes]
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - j])
    result = [D(0)] * n
    for i in range(n - 1, -1, -1):
        shifted = [D(0)] + result[:-1]
        result = [s - nodes[i] * r for s, r in zip(shifted, result)]
        result[0] += table[i]
    return result


def error(function, coefficients, low, high, rounding):
    low, high = D(str(low)), D(str(high))
    worst = D(0)
    for i in range(41):
        x = low + (high - low) * i / 40
        value = D(0)
        for c in reversed(coefficients):
            value = value * x + D(rounding(c))
        worst = max(worst, abs(value - function(x)))
    return worst


def single(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def emit(name, comment, function, low, high, degrees):
    """degrees: of the polynomials for f32 and f64; 0 for none."""
    for suffix, degree, rounding in (("32", degrees[0], single), ("64", degrees[1], float)):
        if degree == 0:
            continue
        coefficients = interpolate(function, low, high, degree)
        worst = float(error(function, coefficients, low, high, rounding))
        print(f"/// {comment} on [{low}, {high}], error {worst:.1e}.")
        print(f"constexpr double {name}{suffix}[] = {{")
        for c in coefficients:
            print(f"    {rounding(c).hex()},")
        print("};")


def two_over_pi():
    """Bits of 2 / pi after 64 zero bits, in 64-bit words."""
    getcontext().prec = 450
    scaled = int((2 / pi_long()) * (D(2) ** (64 * 20)))
    getcontext().prec = 80
    words = [0] + [scaled >> (64 * (19 - i)) & (2**64 - 1) for i in range(20)]
    print("/// 2 / pi: 64 zero bits, then the bits after its binary point, from the most significant word.")
    print("constexpr uint64_t twoOverPi[] = {")
    for word in words:
        print(f"    {word:#018x},")
    print("};")


def pi_long():
    def arctan_inverse(n):
        total, power, k = D(0), D(1) / n, 0
        while abs(power) > D(10) ** -445:
            total += power / (2 * k + 1) * (-1) ** k
            power /= n * n
            k += 1
        return total
    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def split(name, value, rounding, parts):
    pieces = []
    for _ in range(parts):
        piece = rounding(value)
        pieces.append(piece)
        value -= D(piece)
    print(f"constexpr double {name}[] = {{{', '.join(p.hex() for p in pieces)}}};")


print("// Coefficients of the mathematical functions. Printed by utils/math/fit.py; do not edit.")
print("#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H")
print("#define TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H\n")
print("#include <cstdint>\n")
print("namespace tilec {\n")
emit("sinRest", "(sin(r) / r - 1) / z in z = r * r", sin_rest, 0, 0.617, (3, 6))
emit("cosRest", "(cos(r) - 1 + z / 2) / z^2 in z = r * r", cos_rest, 0, 0.617, (2, 6))
emit("expRest", "(exp(r) - 1 - r) / r^2", exp_rest, -0.3466, 0.3466, (4, 10))
emit("logRest", "(log((1 + s) / (1 - s)) - 2 s) / s^3 in z = s * s", log_rest, 0, 0.0295, (0, 6))
emit("logTail", "logRest without its first term 2 / 3, over z", log_tail, 0, 0.0295, (2, 7))
emit("log1pRest", "(log(1 + f) - f) / f^2", log1p_rest, -0.2929, 0.4143, (9, 0))
emit("tanhRest", "(tanh(x) / x - 1) / z in z = x * x", tanh_rest, 0, 1, (6, 0))
emit("tanhRest", "(tanh(x) / x - 1) / z in z = x * x", tanh_rest, 0, 0.3025, (0, 12))
emit("erfRest", "erf(x) / x - 1 in z = x * x", erf_over_x, 0, 1, (6, 14))
emit("erfcRest", "exp(x^2) erfc(x) in t = (x - 3) / (x + 3)", erfc_in_t, -0.5, 0.34, (0, 20))
emit("erfcExponent", "log2(erfc(x)) / x", erfc_exponent, 1, 4.1, (8, 0))
emit("narrowErfcExponent", "log2(erfc(x)) / x", erfc_exponent_from_zero, 0, 3.7, (6, 0))
print("/// Sums of parts whose low bits are exact enough for fused multiply-adds.")
split("ln2Parts32", LN2, single, 2)
split("ln2Parts64", LN2, float, 2)
split("log2eParts32", 1 / LN2, single, 2)
split("log2eParts64", 1 / LN2, float, 2)
split("halfPiParts32", PI / 2, single, 4)
split("halfPiParts64", PI / 2, float, 3)
split("twoThirdsParts32", D(2) / 3, single, 2)
split("twoThirdsParts64", D(2) / 3, float, 2)
print(f"constexpr double inverseHalfPi = {float(2 / PI).hex()};")
two_over_pi()
print("\n} // namespace tilec\n")
print("#endif // TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H")
