// wgmma.mma_async: reads operands through descriptors and multiplies.
#include "tilec/Simulator/Wgmma.h"

#include "MatrixArithmetic.h"
#include <cstring>

using namespace tilec::simulator;

static constexpr unsigned laneCount = 32, warpCount = 4, rowCount = 64, chunkBytes = 16;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

// Fields: PTX ISA, "Matrix Descriptor Format". Offsets count 16 bytes.
MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  auto field = [&](unsigned first, unsigned count) {
    return static_cast<uint32_t>(bits >> first & ((uint64_t(1) << count) - 1));
  };
  static constexpr unsigned spans[] = {0, 128, 64, 32};
  MatrixDescriptor descriptor;
  descriptor.address = field(0, 14) << 4;
  descriptor.leadingOffset = field(16, 14) << 4;
  descriptor.strideOffset = field(32, 14) << 4;
  descriptor.baseOffset = field(49, 3);
  descriptor.swizzle = spans[field(62, 2)];
  return descriptor;
}

uint64_t MatrixDescriptor::encode() const {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  auto units = [](uint32_t bytes) { return uint64_t(bytes >> 4 & 0x3fff); };
  return units(address) | units(leadingOffset) << 16 | units(strideOffset) << 32 | uint64_t(baseOffset) << 49 |
         mode << 62;
}

uint32_t tilec::simulator::swizzledAddress(uint32_t address, unsigned span, unsigned baseOffset) {
  if (span == 0)
    return address;
  uint32_t mask = span / chunkBytes - 1;
  return address ^ (((address >> 7) - baseOffset) & mask) << 4;
}

// The canonical layouts: groups of 8 rows of `span` bytes, or of 16 bytes without a swizzle. The stride offset leads to
// the next group of rows, the leading offset to the next columns that do not fit into the span; without a swizzle and
// contiguous along m or n they change places.
uint32_t MatrixDescriptor::chunkAddress(bool kMajor, unsigned elementBytes, unsigned mn, unsigned k) const {
  unsigned row = kMajor ? mn : k, column = (kMajor ? k : mn) * elementBytes;
  unsigned span = swizzle ? swizzle : chunkBytes;
  bool exchanged = !kMajor && swizzle == 0;
  uint32_t groupStride = exchanged ? leadingOffset : strideOffset;
  uint32_t spanStride = exchanged ? strideOffset : leadingOffset;
  uint32_t linear = address + row / 8 * groupStride + row % 8 * span + column / span * spanStride +
                    column % span / chunkBytes * chunkBytes;
  return swizzledAddress(linear, swizzle, baseOffset);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

const char *WgmmaInstruction::check() const {
  bool f8A = a == MmaType::E4M3 || a == MmaType::E5M2, f8B = b == MmaType::E4M3 || b == MmaType::E5M2;
  bool integersA = a == MmaType::S8 || a == MmaType::U8, integersB = b == MmaType::S8 || b == MmaType::U8;
  if (a == MmaType::F64 || bitsOf(a) == 4)
    return "operands of this type";
  if (integersA != integersB || f8A != f8B || (!integersA && !f8A && a != b))
    return "operands of these two types together";
  if (n % 8 || n == 0 || n > 256 || (integersA && n > 32 && n % 16))
    return "this N";
  if (integersA != (accumulator == AccumulatorType::S32) || accumulator == AccumulatorType::F64)
    return "accumulators of this type";
  if (accumulator == AccumulatorType::F16 && a != MmaType::F16 && !f8A)
    return "f16 accumulators for these operands";
  if ((transposeA || transposeB) && bitsOf(a) != 16)
    return "operands of 8 or 32 bits that are not contiguous along the contraction";
  if (transposeA && registersA)
    return "a transposed operand in registers";
  return nullptr;
}

namespace {
// Calls use(mn, k, value) for each element of an operand in shared memory.
template <typename F>
void forEachElement(const MatrixDescriptor &descriptor, bool kMajor, MmaType type, unsigned extent, unsigned k,
                    SharedReader read, F use) {
  unsigned size = bitsOf(type) / 8, elements = chunkBytes / size;
  unsigned stepMn = kMajor ? 1 : elements, stepK = kMajor ? elements : 1;
  for (unsigned mn = 0; mn < extent; mn += stepMn)
    for (unsigned i = 0; i < k; i += stepK) {
      uint8_t bytes[chunkBytes];
      read(descriptor.chunkAddress(kMajor, size, mn, i), bytes);
      for (unsigned element = 0; element < elements; ++element) {
        uint32_t bits = 0;
        std::memcpy(&bits, bytes + element * size, size);
        use(kMajor ? mn : mn + element, kMajor ? i + element : i, elementValue(type, bits));
      }
    }
}

// Rows 16 warp to 16 warp + 15 in the fragment of mma.sync.
void readRegistersA(const WgmmaInstruction &info, const WgmmaRegisters &registers, double *a) {
  unsigned bits = bitsOf(info.a), elements = 32 / bits, k = info.k();
  for (unsigned warp = 0; warp < warpCount; ++warp)
    for (unsigned r = 0; r < registers.a[warp].size(); ++r)
      for (unsigned lane = 0; lane < laneCount; ++lane)
        for (unsigned i = 0; i < elements; ++i) {
          unsigned row = 16 * warp + lane / 4 + 8 * (r % 2);
          unsigned column = 4 * elements * (r / 2) + elements * (lane % 4) + i;
          a[row * k + column] = elementValue(info.a, registers.a[warp][r][lane] >> (bits * i));
        }
}

// Register r of a thread holds row lane / 4 + 8 (r / 2 mod 2), columns 8 (r / 4) + 2 (lane mod 4) + r mod 2.
// Calls use(value of the register, shift, index) for each accumulator; index is that of MatrixProblem::c.
template <typename F> void forEachAccumulator(const WgmmaInstruction &info, const WgmmaRegisters &registers, F use) {
  for (unsigned warp = 0; warp < warpCount; ++warp)
    for (unsigned r = 0; r < registers.d[warp].size(); ++r) {
      uint64_t *values = registers.d[warp][r];
      for (unsigned lane = 0; lane < laneCount; ++lane) {
        unsigned row = 16 * warp + lane / 4, column = 2 * (lane % 4);
        if (info.accumulator == AccumulatorType::F16) {
          size_t index = size_t(row + 8 * (r % 2)) * info.n + column + 8 * (r / 2);
          use(values[lane], 0, index);
          use(values[lane], 16, index + 1);
        } else {
          use(values[lane], 0, size_t(row + 8 * (r / 2 % 2)) * info.n + column + 8 * (r / 4) + r % 2);
        }
      }
    }
}

void multiplyIntegers(const WgmmaOperation &operation, MatrixProblem &problem, const WgmmaRegisters &registers) {
  problem.multiply();
  forEachAccumulator(operation.instruction, registers, [&](uint64_t &value, unsigned, size_t index) {
    value = accumulateInteger(problem.results[index], operation.accumulate ? value : 0, operation.instruction.saturate);
  });
}

void multiplyFloats(const WgmmaOperation &operation, MatrixProblem &problem, const WgmmaRegisters &registers) {
  const WgmmaInstruction &info = operation.instruction;
  bool narrow = bitsOf(info.a) == 8, half = info.accumulator == AccumulatorType::F16;
  constexpr unsigned narrowBits = 13, wideBits = 25, mantissa = 23;
  problem.fractionBits = narrow ? narrowBits : wideBits;
  if (operation.accumulate)
    forEachAccumulator(info, registers, [&](uint64_t value, unsigned shift, size_t index) {
      problem.c[index] = accumulatorValue(info.accumulator, half ? value >> shift & 0xffff : value);
    });
  problem.multiplyAligned(0, problem.k);
  forEachAccumulator(info, registers, [&](uint64_t &value, unsigned shift, size_t index) {
    double sum = problem.results[index];
    uint64_t bits = accumulatorBits(info.accumulator, half ? sum : cutOff(sum, narrow ? narrowBits : mantissa));
    value = shift ? value | bits << shift : bits;
  });
}
} // namespace

void tilec::simulator::executeWgmma(const WgmmaOperation &operation, SharedReader read,
                                    const WgmmaRegisters &registers) {
  const WgmmaInstruction &info = operation.instruction;
  unsigned k = info.k(), n = info.n;
  static thread_local MatrixProblem problem;
  problem.resize(rowCount, n, k);
  problem.typeA = info.a, problem.typeB = info.b, problem.accumulator = info.accumulator;
  if (info.registersA)
    readRegistersA(info, registers, problem.a.data());
  else
    forEachElement(MatrixDescriptor::decode(operation.descriptorA), !info.transposeA, info.a, rowCount, k, read,
                   [&](unsigned m, unsigned i, double value) { problem.a[m * k + i] = value; });
  forEachElement(MatrixDescriptor::decode(operation.descriptorB), !info.transposeB, info.b, n, k, read,
                 [&](unsigned column, unsigned i, double value) { problem.b[i * n + column] = value; });
  if (info.negateA != info.negateB)
    for (double &value : problem.a)
      value = -value;
  if (info.accumulator == AccumulatorType::S32)
    multiplyIntegers(operation, problem, registers);
  else
    multiplyFloats(operation, problem, registers);
}
