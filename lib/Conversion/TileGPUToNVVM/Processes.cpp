// Lowering of processes: the warps of a block take their roles, each with its own register budget and group numbers.
#include "Channels.h"
#include "TileQueue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

// Registers a thread has at launch: 16384 for each quarter of a multiprocessor, handed to whole warps in steps of 8.
static int64_t launchRegisters(tilegpu::KernelOp kernel, int64_t warps) {
  if (std::optional<uint64_t> limit = kernel.getMaxRegisters())
    return *limit;
  int64_t warpsOfQuarter = llvm::divideCeil(warps, 4);
  return std::min<int64_t>(255, 512 / warpsOfQuarter) / 8 * 8;
}

namespace {

class ProcessEmitter {
public:
  explicit ProcessEmitter(Lowering &lowering)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc) {}

  LogicalResult run();

private:
  struct Role {
    tilegpu::ProcessOp process;
    int64_t firstWarp = 0, firstGroup = 0;
    int64_t endWarp() const {
      tilegpu::ProcessOp op = process;
      return firstWarp + op.getWarps() * op.getReplicas();
    }
  };
  LogicalResult emitFrom(ArrayRef<Role> roles);
  LogicalResult emitRole(const Role &role);
  void setGroup(const Role &role);
  void setRegisters(const Role &role);
  LogicalResult emitBody(const Role &role);

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  Ptx ptx;
  int64_t warps = 0;
  /// i32, the same in all lanes, so that branches on it are uniform.
  Value warpOfBlock, threadOfBlock;
};

} // namespace

// A group's numbers count from its own first warp. Barriers of groups are numbered through all roles.
void ProcessEmitter::setGroup(const Role &role) {
  tilegpu::ProcessOp process = role.process;
  int64_t groupWarps = process.getWarps();
  Value warp = lowering.addConstant(warpOfBlock, -role.firstWarp);
  Value group = lowering.constant32(0);
  if (process.getReplicas() > 1) {
    group = builder.createOrFold<arith::DivUIOp>(loc, warp, lowering.constant32(groupWarps));
    warp = builder.createOrFold<arith::RemUIOp>(loc, warp, lowering.constant32(groupWarps));
  }
  Value firstThread =
      lowering.mulConstant(lowering.addConstant(lowering.mulConstant(group, groupWarps), role.firstWarp), 32);
  lowering.warp = warp;
  lowering.threadInGroup = builder.createOrFold<arith::SubIOp>(loc, threadOfBlock, firstThread);
  lowering.groupNumber = lowering.addConstant(group, role.firstGroup);
  lowering.groupThreads = 32 * groupWarps;
  lowering.inProcess = true;
  lowering.addressBuffers();
}

void ProcessEmitter::setRegisters(const Role &role) {
  tilegpu::ProcessOp process = role.process;
  int64_t wanted = process.getRegisters(), atLaunch = launchRegisters(lowering.kernel, warps);
  if (wanted != 0 && wanted != atLaunch)
    ptx.setMaxRegisters(wanted, wanted > atLaunch);
}

LogicalResult ProcessEmitter::emitBody(const Role &role) {
  tilegpu::ProcessOp process = role.process;
  Block &body = process.getBody().front();
  if (!isElected(process)) {
    lowering.openTurns(process);
    LogicalResult result = lowering.lowerBlock(body);
    lowering.closeTurns(process);
    return result;
  }
  LogicalResult result = success();
  auto elected = [&] { lowering.emitIf(ptx.elect(), [&] { result = lowering.lowerBlock(body); }); };
  if (process.getWarps() * process.getReplicas() == 1) {
    elected();
    return result;
  }
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warpOfBlock, lowering.constant32(role.firstWarp));
  lowering.emitIf(isFirst, elected);
  if (!lowering.queueCounter || failed(result))
    return result;
  Value isSecond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warpOfBlock,
                                         lowering.constant32(role.firstWarp + 1));
  lowering.emitIf(isSecond, [&] { lowering.emitIf(ptx.elect(), [&] { result = emitQueue(lowering); }); });
  return result;
}

LogicalResult ProcessEmitter::emitRole(const Role &role) {
  setRegisters(role);
  setGroup(role);
  lowering.addressBuffers();
  return emitBody(role);
}

// if (warp < end of the first role) ... else the other roles.
LogicalResult ProcessEmitter::emitFrom(ArrayRef<Role> roles) {
  if (roles.size() == 1)
    return emitRole(roles.front());
  Value isMine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, warpOfBlock,
                                       lowering.constant32(roles.front().endWarp()));
  auto branch = scf::IfOp::create(builder, loc, isMine, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitRole(roles.front())))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  return emitFrom(roles.drop_front());
}

LogicalResult ProcessEmitter::run() {
  SmallVector<Role> roles;
  int64_t groups = 0;
  for (auto process : lowering.kernel.getOps<tilegpu::ProcessOp>()) {
    roles.push_back({process, warps, groups});
    warps = roles.back().endWarp();
    groups += process.getReplicas();
    int64_t registers = process.getRegisters();
    if (registers != 0 && !lowering.machine.hasTma)
      return process.emitOpError("asks for registers on a machine without setmaxnreg");
    if (registers != 0 && (registers % 8 != 0 || registers < 24 || registers > 256))
      return process.emitOpError("asks for a number of registers that setmaxnreg does not take");
    if (registers != 0 && process.getWarps() % 4 != 0)
      return process.emitOpError("asks for registers, but its warps are no whole warpgroups");
  }
  threadOfBlock = lowering.threadInGroup;
  warpOfBlock = ptx.broadcastFirstLane(lowering.warp);
  return emitFrom(roles);
}

LogicalResult Lowering::lowerProcesses() {
  // The numbers of the whole block hold again after the roles.
  Value thread = threadInGroup, blockWarp = warp, group = groupNumber;
  int64_t threads = groupThreads;
  LogicalResult result = ProcessEmitter(*this).run();
  threadInGroup = thread;
  warp = blockWarp;
  groupNumber = group;
  groupThreads = threads;
  inProcess = false;
  return result;
}
