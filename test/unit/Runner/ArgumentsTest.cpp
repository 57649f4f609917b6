// Contents of tensors and arguments of the command line.
#include "tilec/Runner/Arguments.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tilec::runner;
namespace json = llvm::json;

namespace {

const ElementType &type(llvm::StringRef name) { return *llvm::cantFail(findElementType(name)); }

TEST(TensorSource, Forms) {
  TensorSource file = llvm::cantFail(parseTensorSource("x/a.npy"));
  EXPECT_EQ(file.kind, TensorSource::File);
  EXPECT_EQ(file.path, "x/a.npy");
  TensorSource random = llvm::cantFail(parseTensorSource("rand(3, 4, seed=9)"));
  EXPECT_EQ(random.kind, TensorSource::Uniform);
  EXPECT_EQ(*random.shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(*random.seed, 9u);
  TensorSource full = llvm::cantFail(parseTensorSource("full(2, 2.5)"));
  EXPECT_EQ(full.value, 2.5);
  EXPECT_EQ(*full.shape, std::vector<int64_t>{2});
  EXPECT_EQ(llvm::cantFail(parseTensorSource("ones")).value, 1);
  for (const char *text : {"a.txt", "rand(3", "full", "rand(x)", "rand(2, seed=q)"}) {
    llvm::Expected<TensorSource> bad = parseTensorSource(text);
    EXPECT_FALSE(bool(bad)) << text;
    llvm::consumeError(bad.takeError());
  }
}

TEST(Tensors, GeneratorsRepeatAndFitTheType) {
  TensorSource source;
  source.kind = TensorSource::Uniform;
  HostTensor a = generateTensor(type("bf16"), {5, 7}, source, 1), b = generateTensor(type("bf16"), {5, 7}, source, 1);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_NE(a.bytes, generateTensor(type("bf16"), {5, 7}, source, 2).bytes);
  for (int64_t i = 0; i < a.size(); ++i) {
    EXPECT_GE(a.value(i), -1);
    EXPECT_LE(a.value(i), 1);
  }
  HostTensor flags = generateTensor(type("bool"), {64}, source, 1);
  for (int64_t i = 0; i < flags.size(); ++i)
    EXPECT_LE(flags.value(i), 1);
  source.kind = TensorSource::Range;
  HostTensor range = generateTensor(type("u8"), {300}, source, 1);
  EXPECT_EQ(range.value(299), 43);
}

TEST(Tensors, Arrays) {
  tilec::interpreter::NpyArray floats = {"f4", {2}, std::vector<uint8_t>(8)};
  float values[] = {1.0f, 3.00390625f};
  std::memcpy(floats.bytes.data(), values, 8);
  HostTensor rounded = llvm::cantFail(convertArray(type("bf16"), floats));
  EXPECT_EQ(rounded.value(1), 3.0);
  llvm::Expected<HostTensor> integers = convertArray(type("i32"), floats);
  EXPECT_FALSE(bool(integers));
  llvm::consumeError(integers.takeError());
  tilec::interpreter::NpyArray bits = {"u2", {1}, {0x80, 0x3f}};
  EXPECT_EQ(llvm::cantFail(convertArray(type("bf16"), bits)).value(0), 1.0);
  EXPECT_EQ(toArray(rounded, false).type, "u2");
  EXPECT_EQ(toArray(rounded, true).type, "f4");
}

TEST(DeviceImage, StridesAndStrayBytes) {
  TensorSource source;
  source.kind = TensorSource::Range;
  HostTensor tensor = generateTensor(type("i16"), {2, 3}, source, 1);
  DeviceImage image(type("i16"), {2, 3}, {1, 4});
  EXPECT_EQ(image.bytes(), 20u);
  image.place(tensor);
  EXPECT_EQ(image.extract().bytes, tensor.bytes);
  EXPECT_EQ(image.pieces().size(), 3u);
  EXPECT_EQ(image.strayBytes(), 0);
  image.contents()[5] = 0;
  EXPECT_EQ(image.strayBytes(), 1);
}

constexpr const char *kernelText = R"({"name": "k", "arguments": [
  {"kind": "tensor", "name": "X", "type": "f32", "access": "in", "shape": ["N", ["add", "N", 1]], "strides": [["add", "N", 1], 1]},
  {"kind": "scalar", "name": "a", "type": "f32"},
  {"kind": "scalar", "name": "n", "type": "u64"},
  {"kind": "tensor", "name": "Y", "type": "f32", "access": "out", "shape": ["N"], "strides": [1]},
  {"kind": "dim", "name": "N"}]})";

std::string refusal(const ArgumentOptions &options) {
  json::Value kernel = llvm::cantFail(json::parse(kernelText));
  llvm::Expected<Arguments> result = bindArguments(*kernel.getAsObject(), options);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(Arguments, ShapesFollowFromDimensions) {
  json::Value kernel = llvm::cantFail(json::parse(kernelText));
  ArgumentOptions options;
  options.values = {{"N", "4"}, {"a", "2"}, {"n", "18446744073709551615"}, {"X", "zeros"}};
  Arguments arguments = llvm::cantFail(bindArguments(*kernel.getAsObject(), options));
  EXPECT_EQ(arguments.find("X")->shape, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(arguments.find("Y")->shape, std::vector<int64_t>{4});
  EXPECT_FALSE(arguments.find("Y")->contents);
  EXPECT_TRUE(arguments.numbers["a"].isReal);
  EXPECT_EQ(arguments.numbers["n"].integer, -1);
  options.values = {{"a", "2"}, {"n", "1"}, {"X", "zeros(4, 5)"}};
  EXPECT_EQ(llvm::cantFail(bindArguments(*kernel.getAsObject(), options)).find("Y")->shape, std::vector<int64_t>{4});
}

TEST(Arguments, Refusals) {
  ArgumentOptions options;
  options.values = {{"Q", "4"}};
  EXPECT_EQ(refusal(options), "kernel `k` has no argument `Q`; it has X, a, n, Y, N");
  options.values = {{"N", "x"}};
  EXPECT_EQ(refusal(options), "`N=x` is no integer");
  options.values = {{"X", "zeros"}};
  EXPECT_EQ(refusal(options), "the size of `X`, N, is not known; give N=NUMBER");
  options.values = {{"Y", "zeros"}};
  EXPECT_EQ(refusal(options), "`Y` is an output; write --out Y=file.npy");
  options.values = {{"N", "-1"}};
  EXPECT_NE(refusal(options).find("is negative"), std::string::npos);
}

} // namespace
