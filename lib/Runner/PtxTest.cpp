// Reads the directives of PTX files and makes their arguments.
#include "tilec/Runner/PtxTest.h"

#include "tilec/Runner/HostTensor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tilec::runner;

static Error malformed(StringRef line) { return createStringError("malformed directive `" + line.trim() + "`"); }

// "2" or "2x3x1"
static bool parseExtents(StringRef text, std::array<int64_t, 3> &extents) {
  SmallVector<StringRef, 3> parts;
  text.split(parts, 'x');
  if (parts.size() > extents.size())
    return false;
  for (auto [part, extent] : zip_first(parts, extents))
    if (part.getAsInteger(0, extent))
      return false;
  return true;
}

static bool parseLaunch(StringRef text, ReadyLaunch &launch) {
  SmallVector<StringRef, 6> parts;
  text.split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [key, value] = part.split('=');
    bool good = key == "kernel"    ? !(launch.entry = value.str()).empty()
                : key == "grid"    ? parseExtents(value, launch.grid)
                : key == "cluster" ? parseExtents(value, launch.cluster)
                : key == "block"   ? !value.getAsInteger(0, launch.block)
                : key == "shared"  ? !value.getAsInteger(0, launch.shared)
                                   : false;
    if (!good)
      return false;
  }
  return !launch.entry.empty();
}

static bool parseArgument(StringRef text, PtxTestArgument &argument) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ' ', -1, /*KeepEmpty=*/false);
  if (parts.size() < 2)
    return false;
  if (parts[0] != "in" && parts[0] != "out") {
    argument.type = parts[0].str();
    argument.contents = parts[1].str();
    return parts.size() == 2;
  }
  argument.kind = parts[0] == "in" ? PtxTestArgument::In : PtxTestArgument::Out;
  argument.type = parts[1].str();
  argument.contents = parts.size() > 3 ? parts[3].str() : "zero";
  return parts.size() > 2 && !parts[2].getAsInteger(0, argument.count);
}

Expected<PtxTest> tilec::runner::parsePtxTest(StringRef ptx) {
  PtxTest test;
  SmallVector<StringRef, 0> lines;
  ptx.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef text = line.trim();
    if (!text.consume_front("//"))
      continue;
    text = text.ltrim();
    if (text.consume_front("RUN-PTX:")) {
      if (!parseLaunch(text, test.launch))
        return malformed(line);
    } else if (text.consume_front("ARG:")) {
      if (!parseArgument(text, test.arguments.emplace_back()))
        return malformed(line);
    } else if (text.consume_front("FAULT:")) {
      test.faults.push_back(text.trim().str());
    }
  }
  if (test.launch.entry.empty())
    return createStringError("without --json the PTX file must say in a comment how it is run: "
                             "// RUN-PTX: kernel=NAME grid=1 block=32");
  return test;
}

static Expected<std::vector<uint8_t>> scalarBytes(const PtxTestArgument &argument) {
  Expected<const ElementType *> type = findElementType(argument.type);
  if (!type)
    return type.takeError();
  std::vector<uint8_t> bytes((*type)->bytes);
  int64_t integer;
  double real;
  if (!StringRef(argument.contents).getAsInteger(0, integer))
    encodeInteger(**type, integer, bytes.data());
  else if (!StringRef(argument.contents).getAsDouble(real))
    encodeElement(**type, real, bytes.data());
  else
    return createStringError("`" + argument.contents + "` is no number");
  return bytes;
}

static Expected<std::vector<uint8_t>> pointerBytes(const PtxTestArgument &argument, unsigned number, Device &device,
                                                   uint64_t seed) {
  Expected<const ElementType *> type = findElementType(argument.type);
  if (!type)
    return type.takeError();
  size_t size = argument.count * (*type)->bytes;
  Expected<uint64_t> address = device.allocate(size, "argument " + std::to_string(number));
  if (!address)
    return address.takeError();
  if (argument.kind == PtxTestArgument::In) {
    TensorSource source;
    source.kind = argument.contents == "iota"   ? TensorSource::Range
                  : argument.contents == "zero" ? TensorSource::Constant
                                                : TensorSource::Uniform;
    HostTensor contents = generateTensor(**type, argument.count, source, seed + number);
    if (Error error = device.upload(*address, contents.bytes))
      return error;
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(sizeof(uint64_t));
  for (unsigned i = 0; i < sizeof(uint64_t); ++i)
    bytes.push_back(static_cast<uint8_t>(*address >> (8 * i)));
  return bytes;
}

Error tilec::runner::placeArguments(PtxTest &test, Device &device, uint64_t seed) {
  test.launch.params.clear();
  for (auto [number, argument] : enumerate(test.arguments)) {
    Expected<std::vector<uint8_t>> bytes = argument.kind == PtxTestArgument::Scalar
                                               ? scalarBytes(argument)
                                               : pointerBytes(argument, static_cast<unsigned>(number), device, seed);
    if (!bytes)
      return bytes.takeError();
    test.launch.params.push_back(std::move(*bytes));
  }
  return Error::success();
}
