// Coefficients of the mathematical functions. Printed by utils/math/fit.py; do not edit.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H
#define TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H

#include <cstdint>

namespace tilec {

/// (sin(r) / r - 1) / z in z = r * r on [0, 0.617], error 5.0e-09.
constexpr double sinRest32[] = {
    -0x1.5555560000000p-3,
    0x1.11110e0000000p-7,
    -0x1.a013a60000000p-13,
    0x1.6dbdc60000000p-19,
};
/// (sin(r) / r - 1) / z in z = r * r on [0, 0.617], error 9.3e-18.
constexpr double sinRest64[] = {
    -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019936p-13, 0x1.71de3a5460533p-19,
    -0x1.ae64541251e39p-26, 0x1.61217eaffbfdbp-33, -0x1.ab179e14267cdp-41,
};
/// (cos(r) - 1 + z / 2) / z^2 in z = r * r on [0, 0.617], error 2.5e-09.
constexpr double cosRest32[] = {
    0x1.5555540000000p-5,
    -0x1.6c12d20000000p-10,
    0x1.9bd8580000000p-16,
};
/// (cos(r) - 1 + z / 2) / z^2 in z = r * r on [0, 0.617], error 2.3e-18.
constexpr double cosRest64[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d09p-16, -0x1.27e4fb7712b8cp-22,
    0x1.1eed8deb644b7p-29, -0x1.9394b9bb6e16dp-37, 0x1.ab782b04de8dep-45,
};
/// (exp(r) - 1 - r) / r^2 on [-0.3466, 0.3466], error 6.7e-08.
constexpr double expRest32[] = {
    0x1.0000000000000p-1, 0x1.5554dc0000000p-3, 0x1.55551a0000000p-5, 0x1.120b6c0000000p-7, 0x1.6d11060000000p-10,
};
/// (exp(r) - 1 - r) / r^2 on [-0.3466, 0.3466], error 2.5e-18.
constexpr double expRest64[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dcp-7,
    0x1.6c16c16c162d5p-10, 0x1.a01a01abe78f9p-13, 0x1.a01a01a6d84aap-16, 0x1.71de0232f4775p-19,
    0x1.27e4db653346ep-22, 0x1.af4de6a36d4fcp-26, 0x1.1f7301a8efa5cp-29,
};
/// (log((1 + s) / (1 - s)) - 2 s) / s^3 in z = s * s on [0, 0.0295], error 3.3e-16.
constexpr double logRest64[] = {
    0x1.5555555555558p-1, 0x1.99999999951f5p-2, 0x1.2492492e0b70cp-2, 0x1.c71c62c42db89p-3,
    0x1.7462be245eae3p-3, 0x1.39fd25d62ab23p-3, 0x1.2b6776a1bf0b9p-3,
};
/// logRest without its first term 2 / 3, over z on [0, 0.0295], error 1.6e-07.
constexpr double logTail32[] = {
    0x1.9999a40000000p-2,
    0x1.247a160000000p-2,
    0x1.d810320000000p-3,
};
/// logRest without its first term 2 / 3, over z on [0, 0.0295], error 2.6e-17.
constexpr double logTail64[] = {
    0x1.999999999999ap-2, 0x1.2492492492524p-2, 0x1.c71c71c6ea01fp-3, 0x1.745d177b22bcfp-3,
    0x1.3b1395976d2f0p-3, 0x1.1118d458653bcp-3, 0x1.df7a2eafecf14p-4, 0x1.e0499f72e39b9p-4,
};
/// (log(1 + f) - f) / f^2 on [-0.2929, 0.4143], error 6.3e-09.
constexpr double log1pRest32[] = {
    -0x1.0000000000000p-1, 0x1.55554e0000000p-2,  -0x1.0000080000000p-2, 0x1.99a1300000000p-3,  -0x1.5559da0000000p-3,
    0x1.237a2a0000000p-3,  -0x1.fcc31a0000000p-4, 0x1.e3d7c20000000p-4,  -0x1.d95b800000000p-4, 0x1.152d5a0000000p-4,
};
/// (tanh(x) / x - 1) / z in z = x * x on [0, 1], error 2.1e-08.
constexpr double tanhRest32[] = {
    -0x1.5555540000000p-2, 0x1.110ffe0000000p-3, -0x1.b9d5740000000p-5,  0x1.62e11c0000000p-6,
    -0x1.0d51500000000p-7, 0x1.490d0a0000000p-9, -0x1.b921960000000p-12,
};
/// (tanh(x) / x - 1) / z in z = x * x on [0, 0.3025], error 2.0e-17.
constexpr double tanhRest64[] = {
    -0x1.5555555555555p-2,  0x1.1111111111111p-3,  -0x1.ba1ba1ba1b95bp-5,  0x1.664f4882ba306p-6,
    -0x1.226e355c62325p-7,  0x1.d6d3d028aad5bp-9,  -0x1.7da34f4c64329p-10, 0x1.3556886ef1283p-11,
    -0x1.f5520c3b9ff15p-13, 0x1.94e894340e4b0p-14, -0x1.3f58d7db175f6p-15, 0x1.bfb8722b58696p-17,
    -0x1.93edec43fd5a2p-19,
};
/// erf(x) / x - 1 in z = x * x on [0, 1], error 5.4e-09.
constexpr double erfRest32[] = {
    0x1.06eba80000000p-3, -0x1.81273e0000000p-2,  0x1.ce2d100000000p-4,  -0x1.b7faba0000000p-6,
    0x1.5412700000000p-8, -0x1.a450880000000p-11, 0x1.4a56900000000p-14,
};
/// erf(x) / x - 1 in z = x * x on [0, 1], error 1.2e-17.
constexpr double erfRest64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b47p-6,
    0x1.565bcd0e6a2eep-8,  -0x1.c02db40035f1ep-11, 0x1.f9a326f7ac5b1p-14, -0x1.f4d25bf9af03ap-17,
    0x1.b9e6c38e5cf3dp-20, -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27, -0x1.517ce02f1265fp-30,
    0x1.9a0fcb5e22c5bp-34, -0x1.b40e7abf9f000p-38, 0x1.3c01fd3a74542p-42,
};
/// exp(x^2) erfc(x) in t = (x - 3) / (x + 3) on [-0.5, 0.34], error 7.8e-18.
constexpr double erfcRest64[] = {
    0x1.6e9827d229d2dp-3,   -0x1.4e102b9cf8513p-2, 0x1.f6ff204105974p-3,  -0x1.336ffbef08b4bp-3,
    0x1.258b13b017aabp-4,   -0x1.8fa58eb5d9661p-6, 0x1.17c838ee801dep-8,  0x1.73101e78b2621p-11,
    -0x1.39084c546e90dp-11, 0x1.7ba1038b86e7cp-15, 0x1.0cac32fc78a70p-14, -0x1.af86cf1d9641fp-17,
    -0x1.0bb37cc730f09p-17, 0x1.1c8923234e7f3p-19, 0x1.5032a18025bb4p-20, -0x1.3b27598d94a0dp-22,
    -0x1.f71c58d42cb12p-23, 0x1.ccb72228529cdp-26, 0x1.80f364a99f5c1p-25, 0x1.e5f301fda6cb1p-29,
    -0x1.07556c54a6550p-28,
};
/// log2(erfc(x)) / x on [1, 4.1], error 7.5e-08.
constexpr double erfcExponent32[] = {
    -0x1.a0e7ee0000000p+0, -0x1.d4b1760000000p-1,  -0x1.3cb6e00000000p-3,  0x1.2178ba0000000p-5,  -0x1.7355f80000000p-8,
    0x1.13907c0000000p-11, -0x1.0752e20000000p-17, -0x1.d011840000000p-19, 0x1.0d34360000000p-22,
};
/// log2(erfc(x)) / x on [0, 3.7], error 2.1e-05.
constexpr double narrowErfcExponent32[] = {
    -0x1.a0bfde0000000p+0, -0x1.d5f5cc0000000p-1, -0x1.350b8a0000000p-3,  0x1.0b2b980000000p-5,
    -0x1.325dce0000000p-8, 0x1.86d7080000000p-12, -0x1.7840ac0000000p-17,
};
/// Sums of parts whose low bits are exact enough for fused multiply-adds.
constexpr double ln2Parts32[] = {0x1.62e4300000000p-1, -0x1.05c6100000000p-29};
constexpr double ln2Parts64[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double log2eParts32[] = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};
constexpr double log2eParts64[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr double halfPiParts32[] = {0x1.921fb60000000p+0, -0x1.777a5c0000000p-25, -0x1.ee59da0000000p-50,
                                    0x1.98a2e00000000p-77};
constexpr double halfPiParts64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double twoThirdsParts32[] = {0x1.5555560000000p-1, -0x1.5555560000000p-26};
constexpr double twoThirdsParts64[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
constexpr double inverseHalfPi = 0x1.45f306dc9c883p-1;
/// 2 / pi: 64 zero bits, then the bits after its binary point, from the most significant word.
constexpr uint64_t twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_MATHCOEFFICIENTS_H
