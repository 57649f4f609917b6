// Works out the outputs of a command line.
#include "OutputNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilec {
namespace {

struct Form {
  StringLiteral name;
  OutputKind kind;
  StringLiteral extension;
  /// Goes to standard output if -o is not given.
  bool forPeople;
};

constexpr Form forms[] = {
    {"ast", OutputKind::AST, "ast", true},
    {"tile", OutputKind::Tile, "tile.mlir", true},
    {"tilegpu", OutputKind::TileGPU, "tilegpu.mlir", true},
    {"nvvm", OutputKind::NVVM, "mlir", true},
    {"llvm", OutputKind::LLVM, "ll", true},
    {"ptx", OutputKind::PTX, "ptx", false},
    {"cubin", OutputKind::Cubin, "cubin", false},
    {"fatbin", OutputKind::Fatbin, "fatbin", false},
    {"header", OutputKind::Header, "h", false},
    {"json", OutputKind::JSON, "json", false},
};

const Form *findForm(StringRef name) {
  return find_if(forms, [&](const Form &form) { return form.name == name; });
}

const Form *findFormByExtension(StringRef path) {
  return find_if(forms, [&](const Form &form) { return sys::path::extension(path).drop_front() == form.extension; });
}

/// What `.o` lacks; empty for other names.
std::string explainUnbuilt(StringRef form) {
  if (form != "o" && form != "obj")
    return "";
  return ("output of the form `" + form + "` is not built yet; write a cubin, which the header loads").str();
}

/// The forms that --emit, -S or the extension of -o ask for.
bool chooseForms(const OutputRequest &request, std::vector<const Form *> &chosen, std::string &message) {
  for (const std::string &name : request.emit) {
    const Form *form = findForm(name);
    if (form == std::end(forms)) {
      message = explainUnbuilt(name);
      if (message.empty())
        message = "unknown form `" + name + "` for --emit";
      return false;
    }
    chosen.push_back(form);
  }
  if (request.assembly)
    chosen.push_back(findForm("ptx"));
  if (!chosen.empty())
    return true;
  if (request.path.empty() || request.path == "-" || request.stops) {
    chosen.push_back(findForm("cubin"));
    return true;
  }
  const Form *form = sys::path::has_extension(request.path) ? findFormByExtension(request.path) : std::end(forms);
  if (form == std::end(forms)) {
    message = explainUnbuilt(sys::path::extension(request.path).ltrim('.'));
    if (message.empty())
      message = "the extension of `" + request.path + "` names no form of output; use --emit";
    return false;
  }
  chosen.push_back(form);
  return true;
}

std::string nameOutput(const OutputRequest &request, const Form &form, bool isOnly) {
  if (request.path == "-" || (isOnly && !request.path.empty()))
    return request.path;
  if (!request.path.empty())
    return replaceExtension(request.path, form.extension);
  if (form.forPeople || request.stops || request.input == "-")
    return "-";
  return replaceExtension(sys::path::filename(request.input), form.extension);
}

} // namespace

std::string replaceExtension(StringRef path, StringRef extension) {
  SmallString<128> result(path);
  sys::path::replace_extension(result, extension);
  return std::string(result);
}

bool resolveOutputs(const OutputRequest &request, std::vector<Output> &outputs, std::string &message) {
  std::vector<const Form *> chosen;
  if (!chooseForms(request, chosen, message))
    return false;
  for (const Form *form : chosen)
    outputs.push_back({form->kind, nameOutput(request, *form, chosen.size() == 1)});
  if (!request.header.empty())
    outputs.push_back({OutputKind::Header, request.header});
  if (!request.json.empty())
    outputs.push_back({OutputKind::JSON, request.json});
  if (request.stops || request.noHeader)
    return true;
  auto isKind = [](OutputKind kind) { return [kind](const Output &output) { return output.kind == kind; }; };
  auto cubin = find_if(outputs, isKind(OutputKind::Cubin));
  if (cubin == outputs.end())
    cubin = find_if(outputs, isKind(OutputKind::Fatbin));
  if (cubin != outputs.end() && cubin->path != "-" && none_of(outputs, isKind(OutputKind::Header)))
    outputs.push_back({OutputKind::Header, replaceExtension(cubin->path, "h"), /*implied=*/true});
  return true;
}

} // namespace tilec
