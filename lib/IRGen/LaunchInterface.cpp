// The launch interface of a kernel as attributes (docs/abi.md).
#include "Specialization.h"

#include "llvm/ADT/MapVector.h"

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

namespace {

/// Reads the launch interface off the variants of one kernel, which agree in everything but the constants that `when`
/// fixes: an expression that differs is a dimension that is fixed, or else a choice by the conditions of the variants.
class InterfaceReader {
public:
  InterfaceReader(ArrayRef<Kernel> variants, Builder &builder) : variants(variants), builder(builder) {}

  ArrayAttr arguments();
  ArrayAttr contracts();

private:
  DictionaryAttr tensorArgument(size_t parameter);
  ArrayAttr tensorExpressions(size_t parameter, std::vector<sema::Expr *> Tensor::*field);
  Attribute merge(ArrayRef<Attribute> expressions);
  StringAttr fixedDimension(ArrayRef<Attribute> values);
  Attribute condition(const Kernel &variant);

  ArrayRef<Kernel> variants;
  Builder &builder;
};

} // namespace

static StringRef accessName(TensorAccess access) {
  return access == TensorAccess::In ? "in" : access == TensorAccess::Out ? "out" : "inout";
}

// The dimension that has these values in the variants, if there is one.
StringAttr InterfaceReader::fixedDimension(ArrayRef<Attribute> values) {
  for (auto [p, parameter] : llvm::enumerate(variants.front().parameters)) {
    auto isFixed = [&, p = p](auto entry) {
      const Variable *variable = std::get<0>(entry).parameters[p].variable;
      auto value = dyn_cast<IntegerAttr>(std::get<1>(entry));
      return variable && variable->min && variable->min == variable->max && value && value.getInt() == *variable->min;
    };
    if (parameter.variable && llvm::all_of(llvm::zip(variants, values), isFixed))
      return builder.getStringAttr(parameter.variable->name);
  }
  return {};
}

Attribute InterfaceReader::condition(const Kernel &variant) {
  SmallVector<Attribute> list = {builder.getStringAttr("and"), builder.getI64IntegerAttr(1)};
  for (const HostExpr &when : variant.when)
    list.push_back(toAttribute(when, builder));
  return variant.when.size() == 1 ? list.back() : builder.getArrayAttr(list);
}

Attribute InterfaceReader::merge(ArrayRef<Attribute> expressions) {
  if (llvm::all_equal(expressions))
    return expressions.front();
  if (StringAttr dimension = fixedDimension(expressions))
    return dimension;
  SmallVector<Attribute> sum = {builder.getStringAttr("add")};
  for (auto [variant, expression] : llvm::zip(variants, expressions))
    sum.push_back(hostCondition(builder, "mul", condition(variant), expression));
  return builder.getArrayAttr(sum);
}

ArrayAttr InterfaceReader::tensorExpressions(size_t parameter, std::vector<sema::Expr *> Tensor::*field) {
  SmallVector<Attribute> result;
  for (size_t d = 0; d < (variants.front().parameters[parameter].tensor->*field).size(); ++d) {
    SmallVector<Attribute> expressions;
    for (const Kernel &variant : variants) {
      std::optional<HostExpr> host = toHostExpr((variant.parameters[parameter].tensor->*field)[d]);
      expressions.push_back(host ? toAttribute(*host, builder) : builder.getI64IntegerAttr(0));
    }
    result.push_back(merge(expressions));
  }
  return builder.getArrayAttr(result);
}

DictionaryAttr InterfaceReader::tensorArgument(size_t parameter) {
  const Tensor &tensor = *variants.front().parameters[parameter].tensor;
  bool dynamic = tensor.stridesKind == TensorStrides::Dynamic;
  SmallVector<Attribute> strides;
  for (size_t d = 0; dynamic && d < tensor.shape.size(); ++d)
    strides.push_back(builder.getStringAttr(strideName(tensor, d)));
  return builder.getDictionaryAttr({
      builder.getNamedAttr("kind", builder.getStringAttr("tensor")),
      builder.getNamedAttr("name", builder.getStringAttr(tensor.name)),
      builder.getNamedAttr("type", builder.getStringAttr(getSpelling(tensor.element))),
      builder.getNamedAttr("access", builder.getStringAttr(accessName(tensor.access))),
      builder.getNamedAttr("shape", tensorExpressions(parameter, &Tensor::shape)),
      builder.getNamedAttr("strides",
                           dynamic ? builder.getArrayAttr(strides) : tensorExpressions(parameter, &Tensor::strides)),
      builder.getNamedAttr("dynamic_strides", builder.getBoolAttr(dynamic)),
  });
}

ArrayAttr InterfaceReader::arguments() {
  SmallVector<Attribute> result;
  for (auto [p, parameter] : llvm::enumerate(variants.front().parameters)) {
    if (parameter.tensor) {
      result.push_back(tensorArgument(p));
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

// A contract that differs between variants holds where the variant's conditions do.
ArrayAttr InterfaceReader::contracts() {
  llvm::MapVector<StringRef, SmallVector<std::pair<const Kernel *, Attribute>>> byText;
  for (const Kernel &variant : variants)
    for (const LaunchContract &contract : variant.contracts)
      byText[contract.text].push_back({&variant, toAttribute(contract.condition, builder)});
  SmallVector<Attribute> result;
  for (auto &[text, entries] : byText) {
    auto sameCondition = [&, &list = entries](auto &entry) { return entry.second == list.front().second; };
    bool same = entries.size() == variants.size() && llvm::all_of(entries, sameCondition);
    for (auto &[variant, holds] : same ? ArrayRef(entries).take_front() : ArrayRef(entries)) {
      Attribute other = builder.getArrayAttr({builder.getStringAttr("not"), condition(*variant)});
      result.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("condition", same ? holds : hostCondition(builder, "or", other, holds)),
           builder.getNamedAttr("text", builder.getStringAttr(text))}));
    }
  }
  return builder.getArrayAttr(result);
}

LaunchInterface tilec::readLaunchInterface(ArrayRef<Kernel> variants, Builder &builder) {
  InterfaceReader reader(variants, builder);
  return {reader.arguments(), reader.contracts()};
}
