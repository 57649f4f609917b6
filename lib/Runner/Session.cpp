// Memory and launches of one kernel.
#include "tilec/Runner/Session.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec::runner;

Session::Session(const json::Object &kernel, const Arguments &arguments, Device &device)
    : arguments(arguments), device(device), launcher(kernel, device) {}

Session::~Session() {
  for (const Memory &memory : memories)
    device.free(memory.base);
  for (const Workspace &workspace : planned.workspaces)
    device.free(workspace.address);
}

Error Session::prepare() {
  std::map<std::string, TensorArgument> tensors;
  for (const TensorBinding &tensor : arguments.tensors) {
    Memory memory = {&tensor, 0, tensor.offset * tensor.type->bytes,
                     DeviceImage(*tensor.type, tensor.shape, tensor.strides)};
    Expected<uint64_t> base = device.allocate(memory.lead + memory.image.bytes(), tensor.name);
    if (!base)
      return base.takeError();
    memory.base = *base;
    TensorArgument argument = {*base + memory.lead, tensor.shape, std::nullopt};
    if (tensor.strided)
      argument.strides = tensor.strides;
    tensors[tensor.name] = argument;
    memories.push_back(std::move(memory));
  }
  Expected<LaunchPlan> plan = launcher.plan(tensors, arguments.numbers);
  if (!plan)
    return plan.takeError();
  planned = std::move(*plan);
  return Error::success();
}

Error Session::write(Memory &memory) {
  if (Error error = device.poison(memory.base, memory.lead + memory.image.bytes()))
    return error;
  if (!memory.tensor->contents)
    return Error::success();
  memory.image.place(*memory.tensor->contents);
  for (auto [offset, size] : memory.image.pieces())
    if (Error error = device.upload(memory.base + memory.lead + offset, memory.image.contents().slice(offset, size)))
      return error;
  return Error::success();
}

Error Session::run() {
  for (Memory &memory : memories)
    if (Error error = write(memory))
      return error;
  for (const Workspace &workspace : planned.workspaces) {
    std::vector<uint8_t> zeros(workspace.clear ? workspace.bytes : 0);
    if (Error error = device.upload(workspace.address, zeros))
      return error;
  }
  for (const ReadyLaunch &launch : planned.launches)
    if (Error error = device.launch(launch))
      return error;
  return Error::success();
}

Expected<HostTensor> Session::read(Memory &memory) {
  std::vector<uint8_t> bytes(memory.lead + memory.image.bytes());
  if (Error error = device.download(memory.base, bytes))
    return error;
  copy(drop_begin(bytes, memory.lead), memory.image.contents().begin());
  int64_t stray = memory.image.strayBytes() +
                  count_if(ArrayRef(bytes).take_front(memory.lead), [](uint8_t byte) { return byte != 0xff; });
  if (stray)
    return createStringError(Twine(stray) + " bytes around or between the elements of `" + memory.tensor->name +
                             "` have changed");
  return memory.image.extract();
}

Expected<std::vector<HostTensor>> Session::results() {
  std::vector<HostTensor> result;
  for (Memory &memory : memories) {
    if (memory.tensor->access == TensorBinding::In)
      continue;
    Expected<HostTensor> tensor = read(memory);
    if (!tensor)
      return tensor.takeError();
    result.push_back(std::move(*tensor));
  }
  return result;
}

std::vector<std::string> Session::resultNames() const {
  std::vector<std::string> result;
  for (const Memory &memory : memories)
    if (memory.tensor->access != TensorBinding::In)
      result.push_back(memory.tensor->name);
  return result;
}
