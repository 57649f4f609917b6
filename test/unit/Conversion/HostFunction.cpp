// Compiles scalar code with the standard passes of the lowering and LLVM's just-in-time compiler.
#include "HostFunction.h"
#include "Lowering.h"
#include "ScalarOps.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "tilec/Target/Codegen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tilec;
using namespace tilec::test;

int tilec::test::approximationError = 0;

//===----------------------------------------------------------------------===//
// What the hardware and the run-time library do
//===----------------------------------------------------------------------===//

namespace {

float flush(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }

/// Rounds a number that is off by `units` in the last place.
float perturb(double exact, double units) {
  if (exact == 0 || !std::isfinite(exact))
    return static_cast<float>(exact);
  return static_cast<float>(exact + approximationError * units * std::ldexp(1.0, std::ilogb(exact) - 23));
}

// Errors of PTX ISA 9.0: 9.7.3.20 (2 ulp), 9.7.3.14 (1 ulp), 9.7.3.16 (2^-22.9, less than 2.2 ulp).
float approximateExp2(float x) {
  double exact = std::exp2(static_cast<double>(flush(x)));
  // Powers of two are exact, or exp would not be 1 at 0.
  return flush(perturb(exact, std::floor(x) == x ? 0 : 2));
}
float approximateReciprocal(float x) { return flush(perturb(1 / static_cast<double>(flush(x)), 1)); }
float approximateRsqrt(float x) { return perturb(1 / std::sqrt(static_cast<double>(x)), 2.2); }

/// Returns the bf16 in the low bits, as the calling convention for bf16 has it.
float truncateToBF16(float x) {
  uint64_t bits = toBits(x);
  bits = std::isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  return fromBits<float>(bits >> 16 & 0xffff);
}

void replaceApproximations(llvm::Module &module) {
  struct {
    llvm::StringRef intrinsic, replacement;
  } pairs[] = {{"llvm.nvvm.ex2.approx.ftz.f32", "tilecExp2"},
               {"llvm.nvvm.rcp.approx.ftz.f", "tilecReciprocal"},
               {"llvm.nvvm.rsqrt.approx.f", "tilecRsqrt"}};
  for (auto [intrinsic, replacement] : pairs)
    if (llvm::Function *function = module.getFunction(intrinsic)) {
      auto *own =
          llvm::Function::Create(function->getFunctionType(), llvm::Function::ExternalLinkage, replacement, module);
      function->replaceAllUsesWith(own);
      function->eraseFromParent();
    }
}

/// Functions of the run-time library that an old one lacks, and the approximations.
llvm::orc::SymbolMap hostSymbols(llvm::orc::LLJIT &jit) {
  struct {
    const char *name;
    float (*function)(float);
  } functions[] = {{"tilecExp2", approximateExp2},
                   {"tilecReciprocal", approximateReciprocal},
                   {"tilecRsqrt", approximateRsqrt},
                   {"__truncsfbf2", truncateToBF16}};
  llvm::orc::SymbolMap symbols;
  for (auto [name, function] : functions)
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  return symbols;
}

std::unique_ptr<llvm::orc::LLJIT> compile(ModuleOp module) {
  PassManager passes(module.getContext());
  addLowerToLLVMPasses(passes);
  if (failed(passes.run(module)))
    llvm::report_fatal_error("the lowering failed");
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, *llvmContext);
  if (!translated)
    llvm::report_fatal_error("the translation failed");
  replaceApproximations(*translated);
  // Instructions that flush subnormal numbers are no model of the hardware.
  auto host = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  host.addFeatures({"-avx512bf16", "-avxneconvert"});
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(host)).create());
  llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(hostSymbols(*jit))));
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(translated), std::move(llvmContext))));
  return jit;
}

MLIRContext &context() {
  static MLIRContext *instance = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DialectRegistry registry;
    registerTargetTranslations(registry);
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                         cf::ControlFlowDialect, tile::TileDialect>();
    return created;
  }();
  return *instance;
}

IntegerType integerOf(Type type) {
  return IntegerType::get(type.getContext(), type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
}

Value fromInteger(OpBuilder &builder, Location loc, Value bits, Type type) {
  Type narrow = integerOf(type);
  if (narrow != bits.getType())
    bits = arith::TruncIOp::create(builder, loc, narrow, bits);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, bits);
  return type == narrow ? bits : Value(arith::BitcastOp::create(builder, loc, type, bits));
}

Value toInteger(OpBuilder &builder, Location loc, Value value) {
  Type type = integerOf(value.getType());
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, type, value);
  else if (value.getType() != type)
    value = arith::BitcastOp::create(builder, loc, type, value);
  return type.isInteger(64) ? value : Value(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value));
}

const Machine &sm80() { return *findMachine("sm_80"); }

} // namespace

//===----------------------------------------------------------------------===//
// HostFunction
//===----------------------------------------------------------------------===//

HostFunction HostFunction::fromRegisters(ArrayRef<TypeName> operands, const TypeName &result, Build build) {
  OpBuilder builder(&context());
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  Type i64 = builder.getI64Type();
  auto function = LLVM::LLVMFuncOp::create(builder, loc, "f", LLVM::LLVMFunctionType::get(i64, {i64, i64, i64}));
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> registers;
  for (auto [name, bits] : llvm::zip(operands, entry->getArguments()))
    registers.push_back(fromInteger(builder, loc, bits, Lowering::registerType(parseType(name, &context()))));
  LLVM::ReturnOp::create(builder, loc, toInteger(builder, loc, build(builder, loc, registers)));
  HostFunction compiled;
  compiled.jit = compile(*module);
  compiled.address = llvm::cantFail(compiled.jit->lookup("f")).toPtr<uint64_t (*)(uint64_t, uint64_t, uint64_t)>();
  return compiled;
}

HostFunction HostFunction::ofOperation(ArrayRef<TypeName> operands, const TypeName &result, CreateOp create,
                                       ArrayRef<int64_t> constants) {
  Type resultType = parseType(result, &context());
  return fromRegisters(operands, result, [&](OpBuilder &builder, Location loc, ArrayRef<Value> registers) {
    SmallVector<Value> typed;
    SmallVector<Operation *> casts;
    for (auto [name, value] : llvm::zip(operands, registers)) {
      casts.push_back(UnrealizedConversionCastOp::create(builder, loc, parseType(name, &context()), value));
      typed.push_back(casts.back()->getResult(0));
    }
    Operation *op = create(builder, loc, typed, resultType);
    SmallVector<Value> inputs(registers);
    for (int64_t constant : constants)
      inputs.push_back(arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(resultType, constant)));
    FailureOr<Value> lowered = ScalarOps(builder, loc, sm80()).emit(op, inputs, resultType);
    if (failed(lowered))
      llvm::report_fatal_error("the operation has no lowering");
    op->erase();
    for (Operation *cast : casts)
      cast->erase();
    return *lowered;
  });
}

HostFunction HostFunction::cast(const TypeName &from, const TypeName &to, bool fromUnsigned, bool toUnsigned) {
  Type source = parseType(from, &context()), target = parseType(to, &context());
  return fromRegisters({from}, to, [&](OpBuilder &builder, Location loc, ArrayRef<Value> registers) {
    return ScalarOps(builder, loc, sm80()).cast(registers[0], source, target, fromUnsigned, toUnsigned);
  });
}
