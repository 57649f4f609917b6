// Reads and writes .npy files: a magic string, a version, the length of a header that is a Python dictionary, the data.
#include "tilec/Interpreter/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace tilec::interpreter;

int64_t NpyArray::itemSize() const { return std::stoll(type.substr(1)); }

int64_t NpyArray::size() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

static Error fault(StringRef path, const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "`" + path + "`: " + message);
}

// The text after `'key':` of the header.
static StringRef field(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef() : header.substr(at + key.size() + 3).ltrim();
}

// Reorders elements of which the first dimension varies fastest.
static void makeRowMajor(NpyArray &array) {
  std::vector<uint8_t> columnMajor = array.bytes;
  int64_t item = array.itemSize(), n = array.size();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, place = 0, columnStride = n;
    for (size_t d = array.shape.size(); d-- > 0;) {
      columnStride /= array.shape[d];
      place += rest % array.shape[d] * columnStride;
      rest /= array.shape[d];
    }
    std::copy_n(columnMajor.begin() + place * item, item, array.bytes.begin() + i * item);
  }
}

// The shape of a damaged file may be larger than any memory.
static bool fits(const NpyArray &array, size_t bytes) {
  size_t limit = bytes / static_cast<size_t>(array.itemSize()), count = 1;
  if (is_contained(array.shape, 0))
    return true;
  for (int64_t extent : array.shape) {
    if (static_cast<size_t>(extent) > limit / count)
      return false;
    count *= static_cast<size_t>(extent);
  }
  return count <= limit;
}

Expected<NpyArray> tilec::interpreter::readNpy(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fault(path, file.getError().message());
  StringRef data = (*file)->getBuffer();
  if (!data.starts_with("\x93NUMPY") || data.size() < 12)
    return fault(path, "is no .npy file");
  size_t lengthBytes = data[6] == 1 ? 2 : 4, length = 0;
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | static_cast<uint8_t>(data[8 + i]);
  StringRef header = data.substr(8 + lengthBytes, length), body = data.substr(8 + lengthBytes + length);

  StringRef type = field(header, "descr").drop_front().take_until([](char c) { return c == '\''; });
  static constexpr StringLiteral known[] = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
  if (!is_contained(known, type.drop_front()))
    return fault(path, "has elements of the type `" + type +
                           "`; the types are numpy's float16 to float64, integers and bool");
  NpyArray array;
  array.type = type.drop_front().str();
  StringRef shape = field(header, "shape").drop_front().take_until([](char c) { return c == ')'; });
  SmallVector<StringRef, 4> sizes;
  shape.split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (StringRef size : sizes) {
    int64_t extent;
    if (size.trim().empty())
      continue;
    if (size.trim().getAsInteger(10, extent) || extent < 0)
      return fault(path, "has a malformed shape");
    array.shape.push_back(extent);
  }
  if (!fits(array, body.size()))
    return fault(path, "is shorter than its shape says");
  array.bytes.assign(body.begin(), body.begin() + array.size() * array.itemSize());
  if (type.front() == '>')
    for (auto item = array.bytes.begin(); item != array.bytes.end(); item += array.itemSize())
      std::reverse(item, item + array.itemSize());
  if (field(header, "fortran_order").starts_with("True"))
    makeRowMajor(array);
  return array;
}

Error tilec::interpreter::writeNpy(StringRef path, const NpyArray &array) {
  std::string shape;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + ",";
  std::string header = "{'descr': '" + std::string(array.itemSize() == 1 ? "|" : "<") + array.type +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(alignTo(header.size() + 11, 64) - 11, ' ');
  header += '\n';
  // Beside its place first, so that nothing reads half an array.
  auto write = [&](raw_ostream &os) {
    os << StringRef("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xFF)
       << static_cast<char>(header.size() >> 8) << header;
    os.write(reinterpret_cast<const char *>(array.bytes.data()), array.bytes.size());
    return Error::success();
  };
  if (Error error = writeToOutput(path, write)) {
    std::string reason = toString(std::move(error));
    // The path is named by fault().
    StringRef cause = StringRef(reason).rsplit("': ").second;
    return fault(path, cause.empty() ? StringRef(reason) : cause);
  }
  return Error::success();
}
