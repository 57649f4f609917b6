// The one place that builds PTX instructions: inline assembly, and the NVVM operations where they are as good.
//
// Section numbers are those of the PTX ISA 9.0. Shared-memory addresses are `i32` values or `!llvm.ptr<3>`, addresses
// of global memory `!llvm.ptr<1>`, generic ones `!llvm.ptr`. The target component marks all inline assembly convergent.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_PTX_H
#define TILEC_CONVERSION_TILEGPUTONVVM_PTX_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace tilec {

/// Element types of Tensor Core operands.
enum class MmaType { F16, BF16, TF32, E4M3, E5M2, S8, U8, F64 };
llvm::StringRef mmaTypeName(MmaType type);
unsigned mmaTypeBits(MmaType type);
/// The operand type for an element type of the IR; none if Tensor Cores do not take it.
std::optional<MmaType> mmaTypeOf(mlir::Type elementType, bool isUnsigned);

/// `wgmma.mma_async` m64nNkK (9.7.15.5.2); K is 256 bits of elements. Integer operands sum in s32, all others in f32.
struct WgmmaInstruction {
  int64_t n = 8;
  MmaType a = MmaType::F16;
  MmaType b = MmaType::F16;
  /// The operand in shared memory is MN-major; 16-bit types only.
  bool transA = false;
  bool transB = false;

  unsigned numAccumulators() const { return n / 2; }
};

/// One instruction of a sequence on the same tile.
struct WgmmaStep {
  /// The first of its accumulators among those of the sequence.
  unsigned accumulator = 0;
  /// Register operand: four 32-bit values. Empty: A is in shared memory.
  llvm::SmallVector<mlir::Value, 4> registersA;
  /// Added to the descriptors of the sequence, in their units of 16 bytes.
  int64_t offsetA = 0;
  int64_t offsetB = 0;
  /// Whether this is the first instruction on its accumulators.
  bool first = false;
};

/// How a sequence of wgmma starts and ends.
struct WgmmaSequence {
  WgmmaInstruction instruction;
  llvm::SmallVector<WgmmaStep, 8> steps;
  /// Descriptors (i64) to which the steps' offsets are added; A may be null.
  mlir::Value descriptorA;
  mlir::Value descriptorB;
  /// Initial accumulators; null elements or an empty list: the first instruction overwrites (`scale-d` 0).
  llvm::SmallVector<mlir::Value, 0> accumulators;
  /// i1, or null: where it is true, the first instructions ignore the accumulators.
  mlir::Value ignoreAccumulators;
  unsigned numAccumulators = 0;
  /// Wait for completion; otherwise the caller calls wgmmaWait on the results before using them.
  bool wait = true;
};

/// `mma.sync` (9.7.14.5.14).
struct MmaShape {
  int64_t m = 16, n = 8, k = 16;
  MmaType a = MmaType::F16;
  MmaType b = MmaType::F16;
};

/// Builds instructions at the insertion point of a builder.
class Ptx {
public:
  using Values = llvm::SmallVector<mlir::Value, 8>;

  Ptx(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  // Inline assembly -------------------------------------------------------------------------------------------------

  struct AssemblyOptions {
    /// Keep it even if results are unused, and in order with other such assembly.
    bool sideEffects = true;
    /// It reads or writes memory that other operations access.
    bool memory = true;
    /// Results are written before all operands have been read.
    bool earlyClobber = false;
    /// Values tied to the first results; they follow the operands in number.
    mlir::ValueRange tied = {};
  };
  /// Results are $0 .. $r-1, operands $r .. ; constraints follow from the types (i16, i32, i64, f32, f64, pointers).
  Values assembly(const llvm::Twine &text, mlir::TypeRange results, mlir::ValueRange operands,
                  const AssemblyOptions &options);
  Values assembly(const llvm::Twine &text, mlir::TypeRange results, mlir::ValueRange operands) {
    return assembly(text, results, operands, AssemblyOptions());
  }

  mlir::Value constant(int64_t value, unsigned bits = 32);
  /// The address in shared memory as i32 or as `!llvm.ptr<3>`, from either.
  mlir::Value sharedAddress(mlir::Value address);
  mlir::Value sharedPointer(mlir::Value address);
  /// The text of operand `number` as an address in shared memory, `[$number + constant]`. The constant is taken out of
  /// `address`, which becomes i32: as part of the instruction it occupies no register outside a loop.
  std::string addressText(unsigned number, mlir::Value &address);
  /// The same address (i32) in the shared memory of block `rank` (i32) of the cluster (9.7.9.24, mapa).
  mlir::Value inBlockOfCluster(mlir::Value address, mlir::Value rank);
  /// address + bytes, both i32.
  mlir::Value offset(mlir::Value address, int64_t bytes);

  /// The i32 at an address in shared memory (i32), read here and nowhere else.
  mlir::Value loadShared(mlir::Value address);
  /// Adds to the i32 at an address of global memory, relaxed; what it was before (9.7.13.6, atom).
  mlir::Value fetchAndAdd(mlir::Value address, mlir::Value addend);

  // mbarriers (9.7.13.15) -------------------------------------------------------------------------------------------

  void mbarrierInit(mlir::Value barrier, int64_t arrivals);
  /// One arrival; with a predicate (i1) by the threads where it holds.
  void mbarrierArrive(mlir::Value barrier, mlir::Value predicate = nullptr);
  /// One arrival at the barrier in the same place of another block of the cluster, `rank` (i32), by the threads where
  /// the predicate (i1) holds. It orders their accesses for no other block: what they have read must have been waited
  /// for.
  void mbarrierArriveAt(mlir::Value barrier, mlir::Value rank, mlir::Value predicate);
  /// One arrival that expects `bytes` of asynchronous writes in the current phase.
  void mbarrierArriveExpectTx(mlir::Value barrier, int64_t bytes);
  /// Expects `bytes` more in the current phase, without arriving.
  void mbarrierExpectTx(mlir::Value barrier, int64_t bytes);
  /// Returns when the phase of this parity (i32, 0 or 1) has completed. `suspends`: the hardware may put the waiting
  /// thread to sleep (try_wait, sm_90).
  void mbarrierWait(mlir::Value barrier, mlir::Value parity, bool suspends = true);
  /// The same for what other blocks of the cluster have written.
  void mbarrierWaitForCluster(mlir::Value barrier, mlir::Value parity);
  void fenceMbarrierInit();

  // Tensor memory access (9.7.9.25, 9.7.9.27) -----------------------------------------------------------------------

  /// Copies the box at `coordinates` (i32, innermost first, one to five) to shared memory; completes on `barrier`.
  /// `multicast` (i16): to the same place in these blocks of the cluster, completing on the barrier of each.
  void loadTensor(mlir::Value target, mlir::Value map, mlir::ValueRange coordinates, mlir::Value barrier,
                  mlir::Value cachePolicy = nullptr, mlir::Value multicast = nullptr);
  void storeTensor(mlir::Value map, mlir::Value source, mlir::ValueRange coordinates);
  void commitBulkGroup();
  /// Waits until at most `pending` bulk groups are unfinished; `read`: until their sources have been read.
  void waitBulkGroup(unsigned pending, bool read);
  void prefetchTensorMap(mlir::Value map);
  /// A policy for L2 (9.7.9.13): `evict_first`, `evict_last`, ...
  mlir::Value createCachePolicy(llvm::StringRef priority);

  // Threads ---------------------------------------------------------------------------------------------------------

  /// Orders this thread's accesses to shared memory before later ones by the asynchronous proxy (9.7.13.4).
  void fenceProxyAsync();
  /// All threads of the block.
  void blockBarrier();
  /// `threads` threads at the named barrier `id` (i32).
  void namedBarrier(mlir::Value id, unsigned threads);
  /// `threads` threads at the barrier whose condition (i1) holds, of those from `first` on. For one whose number is in
  /// a register ptxas takes all sixteen of a block, and a multiprocessor has room for few such blocks.
  void oneOfBarriers(mlir::ValueRange conditions, int64_t first, unsigned threads);
  /// Arrives at the named barrier without waiting; `threads` counts those that arrive and those that wait.
  void namedBarrierArrive(mlir::Value id, unsigned threads);
  void warpBarrier();
  void setMaxRegisters(unsigned registers, bool increase);
  /// i1, true in one thread of the warp, which has converged.
  mlir::Value elect();
  /// The value (i32) of lane 0, known to be the same in all lanes.
  mlir::Value broadcastFirstLane(mlir::Value value);

  // Asynchronous copies of sm_80 (9.7.9.25.3) -----------------------------------------------------------------------

  /// Copies `bytes` (4, 8 or 16); `sourceBytes` (i32, or null for all) are read and the rest is zero. `cachePolicy`
  /// (i64) needs `sourceBytes`.
  void copyAsync(mlir::Value target, mlir::Value source, unsigned bytes, mlir::Value sourceBytes = nullptr,
                 mlir::Value cachePolicy = nullptr);
  void commitCopyGroup();
  void waitCopyGroup(unsigned pending);
  /// Arrives at the barrier when this thread's earlier copies have completed; part of the barrier's expected count.
  void arriveAfterCopies(mlir::Value barrier);

  // Tensor Cores ----------------------------------------------------------------------------------------------------

  /// Runs the sequence as one group in one inline assembly: fence, instructions, commit and wait. Returns the
  /// accumulators (f32 or i32).
  Values wgmma(const WgmmaSequence &sequence);
  /// Waits until at most `pending` groups are unfinished. The values pass through, so that no use of them moves up.
  Values wgmmaWait(unsigned pending, mlir::ValueRange values);

  /// d = a * b + c. Operands are 32-bit registers (f64: f64); accumulators f32, i32 or f64.
  Values mma(const MmaShape &shape, mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange c);
  /// `count` (1, 2, 4) 8x8 matrices of 16-bit elements (9.7.14.5.15); i32 results.
  Values ldmatrix(mlir::Value address, unsigned count, bool transpose);
  void stmatrix(mlir::Value address, mlir::ValueRange values, bool transpose);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_PTX_H
