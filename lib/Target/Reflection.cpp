// Writes the reflection file.
#include "tilec/Target/Reflection.h"

using namespace llvm;

namespace tilec {

json::Value toJSON(const HostExpr &expr) {
  switch (expr.kind) {
  case HostExpr::Kind::Integer:
    return expr.integer;
  case HostExpr::Kind::Float:
    return expr.number;
  case HostExpr::Kind::Name:
    return expr.text;
  case HostExpr::Kind::Operation:
    break;
  }
  json::Array list{expr.text};
  for (const HostExpr &operand : expr.operands)
    list.push_back(toJSON(operand));
  return json::Value(std::move(list));
}

namespace {

class ReflectionWriter {
public:
  explicit ReflectionWriter(raw_ostream &os) : json(os, /*IndentSize=*/2) {}

  void write(ArrayRef<KernelInfo> kernels, const ModuleFacts &facts) {
    json.object([&] {
      json.attribute("version", 1);
      json.attribute("source", facts.source);
      json.attribute("tilec", facts.version);
      json.attribute("arch", facts.arch);
      json.attributeArray("kernels", [&] { for_each(kernels, [&](const KernelInfo &k) { write(k); }); });
    });
  }

private:
  void attribute(StringRef name, const HostExpr &expr) { json.attribute(name, toJSON(expr)); }
  void attribute(StringRef name, ArrayRef<HostExpr> exprs) {
    json.attributeArray(name, [&] { for_each(exprs, [&](const HostExpr &expr) { json.value(toJSON(expr)); }); });
  }
  void attribute(StringRef name, ArrayRef<int64_t> integers) {
    json.attributeArray(name, [&] { for_each(integers, [&](int64_t integer) { json.value(integer); }); });
  }

  void write(const Argument &argument) {
    json.object([&] {
      switch (argument.kind) {
      case Argument::Kind::Dim:
        json.attribute("kind", "dim");
        json.attribute("name", argument.name);
        break;
      case Argument::Kind::Scalar:
        json.attribute("kind", "scalar");
        json.attribute("name", argument.name);
        json.attribute("type", argument.type);
        break;
      case Argument::Kind::Tensor:
        json.attribute("kind", "tensor");
        json.attribute("name", argument.name);
        json.attribute("type", argument.type);
        json.attribute("access", argument.access == Argument::Access::In    ? "in"
                                 : argument.access == Argument::Access::Out ? "out"
                                                                            : "inout");
        attribute("shape", argument.shape);
        attribute("strides", argument.strides);
        json.attribute("dynamic_strides", argument.dynamicStrides);
        break;
      }
    });
  }

  void write(const Parameter &parameter) {
    json.object([&] {
      switch (parameter.kind) {
      case Parameter::Kind::TensorMap:
        json.attribute("kind", "tensormap");
        json.attribute("tensor", parameter.name);
        attribute("dims", parameter.dims);
        attribute("strides", parameter.strides);
        attribute("box", parameter.box);
        json.attribute("swizzle", parameter.swizzle);
        json.attribute("l2", parameter.l2);
        json.attribute("type", parameter.type);
        break;
      case Parameter::Kind::Pointer:
        json.attribute("kind", "pointer");
        json.attribute("tensor", parameter.name);
        break;
      case Parameter::Kind::Int:
        json.attribute("kind", "int");
        attribute("value", parameter.value);
        json.attribute("type", parameter.type);
        break;
      case Parameter::Kind::Scalar:
        json.attribute("kind", "scalar");
        json.attribute("name", parameter.name);
        json.attribute("type", parameter.type);
        break;
      }
    });
  }

  void write(const Launch &launch) {
    json.object([&] {
      json.attribute("entry", launch.entry);
      attribute("grid", ArrayRef<HostExpr>(launch.grid));
      json.attribute("block", launch.block);
      attribute("cluster", ArrayRef<int64_t>(launch.cluster));
      json.attribute("shared", launch.shared);
      json.attributeArray("params", [&] { for_each(launch.params, [&](const Parameter &p) { write(p); }); });
    });
  }

  void write(const Variant &variant) {
    json.object([&] {
      json.attribute("name", variant.name);
      attribute("when", variant.when);
      if (variant.cost)
        attribute("cost", *variant.cost);
      json.attributeArray("launches", [&] { for_each(variant.launches, [&](const Launch &l) { write(l); }); });
    });
  }

  void write(const Contract &contract) {
    json.object([&] {
      attribute("condition", contract.condition);
      json.attribute("text", contract.text);
    });
  }

  void write(const Workspace &workspace) {
    json.object([&] {
      json.attribute("name", workspace.name);
      attribute("bytes", workspace.bytes);
      json.attribute("clear", workspace.clear);
    });
  }

  void write(const KernelInfo &kernel) {
    json.object([&] {
      json.attribute("name", kernel.name);
      json.attributeArray("arguments", [&] { for_each(kernel.arguments, [&](const Argument &a) { write(a); }); });
      json.attributeArray("contracts", [&] { for_each(kernel.contracts, [&](const Contract &c) { write(c); }); });
      if (!kernel.workspaces.empty())
        json.attributeArray("workspaces", [&] { for_each(kernel.workspaces, [&](const Workspace &w) { write(w); }); });
      json.attributeArray("variants", [&] { for_each(kernel.variants, [&](const Variant &v) { write(v); }); });
    });
  }

  json::OStream json;
};

} // namespace

void writeReflection(ArrayRef<KernelInfo> kernels, const ModuleFacts &facts, raw_ostream &os) {
  ReflectionWriter(os).write(kernels, facts);
  os << '\n';
}

} // namespace tilec
