// The launch interface of a kernel as attributes (docs/launch-abi.md).
#include "Specialization.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

Attribute tilec::toAttribute(const llvm::json::Value &value, Builder &builder) {
  if (std::optional<int64_t> integer = value.getAsInteger())
    return builder.getI64IntegerAttr(*integer);
  if (std::optional<double> number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (std::optional<StringRef> name = value.getAsString())
    return builder.getStringAttr(*name);
  SmallVector<Attribute> elements;
  if (const llvm::json::Array *array = value.getAsArray())
    for (const llvm::json::Value &element : *array)
      elements.push_back(toAttribute(element, builder));
  return builder.getArrayAttr(elements);
}

static ArrayAttr hostExpressions(const std::vector<sema::Expr *> &exprs, Builder &builder) {
  SmallVector<Attribute> result;
  for (const sema::Expr *expr : exprs)
    if (std::optional<HostExpr> host = toHostExpr(expr))
      result.push_back(toAttribute(*host, builder));
  return builder.getArrayAttr(result);
}

static StringRef accessName(TensorAccess access) {
  return access == TensorAccess::In ? "in" : access == TensorAccess::Out ? "out" : "inout";
}

static DictionaryAttr tensorArgument(const Tensor &tensor, Builder &builder) {
  bool dynamic = tensor.stridesKind == TensorStrides::Dynamic;
  SmallVector<Attribute> strides;
  for (size_t d = 0; dynamic && d < tensor.shape.size(); ++d)
    strides.push_back(builder.getStringAttr(strideName(tensor, d)));
  return builder.getDictionaryAttr({
      builder.getNamedAttr("kind", builder.getStringAttr("tensor")),
      builder.getNamedAttr("name", builder.getStringAttr(tensor.name)),
      builder.getNamedAttr("type", builder.getStringAttr(getSpelling(tensor.element))),
      builder.getNamedAttr("access", builder.getStringAttr(accessName(tensor.access))),
      builder.getNamedAttr("shape", hostExpressions(tensor.shape, builder)),
      builder.getNamedAttr("strides",
                           dynamic ? builder.getArrayAttr(strides) : hostExpressions(tensor.strides, builder)),
      builder.getNamedAttr("dynamic_strides", builder.getBoolAttr(dynamic)),
  });
}

ArrayAttr tilec::launchArguments(const Kernel &kernel, Builder &builder) {
  SmallVector<Attribute> result;
  for (const Parameter &parameter : kernel.parameters) {
    if (parameter.tensor) {
      result.push_back(tensorArgument(*parameter.tensor, builder));
      continue;
    }
    const Variable &variable = *parameter.variable;
    bool isDimension = variable.kind == VariableKind::Dimension;
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr("kind", builder.getStringAttr(isDimension ? "dim" : "scalar")),
        builder.getNamedAttr("name", builder.getStringAttr(variable.name))};
    if (!isDimension)
      fields.push_back(builder.getNamedAttr("type", builder.getStringAttr(getSpelling(variable.type.element))));
    result.push_back(builder.getDictionaryAttr(fields));
  }
  return builder.getArrayAttr(result);
}

ArrayAttr tilec::launchContracts(const Kernel &kernel, Builder &builder) {
  SmallVector<Attribute> result;
  for (const LaunchContract &contract : kernel.contracts)
    result.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("condition", toAttribute(contract.condition, builder)),
                                   builder.getNamedAttr("text", builder.getStringAttr(contract.text))}));
  return builder.getArrayAttr(result);
}
