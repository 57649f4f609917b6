// Runs kernels written in MLIR's text form on small arrays.
#ifndef TILEC_TEST_UNIT_INTERPRETER_SUPPORT_H
#define TILEC_TEST_UNIT_INTERPRETER_SUPPORT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Interpreter/Launch.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tilec::interpreter {

class Program {
public:
  Program() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, tile::TileDialect,
                        tilegpu::TileGPUDialect>();
  }

  template <typename T> void tensor(const std::string &name, std::vector<T> values) {
    Buffer buffer;
    buffer.name = name;
    buffer.bytes.resize(values.size() * sizeof(T));
    std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
    arguments.tensors[name] = std::move(buffer);
  }

  template <typename T> std::vector<T> values(const std::string &name) {
    const std::vector<uint8_t> &bytes = arguments.tensors[name].bytes;
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  /// Launches kernel "k"; the text of the error, or "".
  std::string operator()(const std::string &source, uint64_t seed = 1) {
    std::string messages;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (!module)
      return "parse: " + messages;
    LaunchOptions options;
    options.seed = seed;
    if (llvm::Error error = launch(*module, "k", arguments, options))
      return messages + llvm::toString(std::move(error));
    return messages;
  }

  mlir::MLIRContext context;
  LaunchArguments arguments;
};

/// A tile.kernel of tensors X (f32[M, K]) in, Y (f32[M]) out; `body` runs for each tile of 4 rows with axes m and k.
inline std::string rowKernel(const std::string &body, const std::string &tail = "") {
  return R"(
    tile.kernel @k attributes {kernel = "k", arguments = []} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %M = tile.arg "M" : index
      %K = tile.arg "K" : index
      %x = tile.arg "X" : !tile.ptr
      %y = tile.arg "Y" : !tile.ptr
      %X = tile.view "X" in %x [%M, %K] strides [%K, %c1] : !tile.view<2, f32>
      %Y = tile.view "Y" out %y [%M] strides [%c1] : !tile.view<1, f32>
      %n = arith.ceildivsi %M, %c4 : index
      tile.parallel [%c0] to [%n] tiles [4] {
      ^bb0(%i: index):
        %m0 = arith.muli %i, %c4 : index
        %m4 = arith.addi %m0, %c4 : index
        %m1 = arith.minsi %m4, %M : index
        %m = tile.axis "m" %m0 to %m1 : !tile.axis<4>
        %k = tile.axis "k" %c0 to %K : !tile.axis<8>
        %pm = tile.pos %m : !tile.axis<4> -> tensor<4xindex>
        %pk = tile.pos %k : !tile.axis<8> -> tensor<8xindex>
        %v = tile.load %X[%pm, %pk] dims [[0], [1]] : !tile.view<2, f32>, (tensor<4xindex>, tensor<8xindex>) -> tensor<4x8xf32>
)" + body +
         R"(
      }
)" + tail +
         "}\n";
}

} // namespace tilec::interpreter

#endif // TILEC_TEST_UNIT_INTERPRETER_SUPPORT_H
