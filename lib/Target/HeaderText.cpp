// Names, literals and expressions of the generated header.
#include "HeaderText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tilec {

std::string toIdentifier(StringRef text) {
  std::string result;
  for (char c : text)
    result += isAlnum(c) ? c : '_';
  if (result.empty() || isDigit(result[0]))
    result.insert(0, "tile_");
  return result;
}

std::string toStringLiteral(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (isPrint(c) && c != '?')
      result += c;
    else
      // Three octal digits end the escape whatever follows.
      result += formatv("\\{0}{1}{2}", (c >> 6) & 3, (c >> 3) & 7, c & 7).str();
  }
  return result + "\"";
}

std::string spanName(StringRef cName) { return ("tilec_bytes_" + cName).str(); }

/// Keywords of C and C++, macros of common headers and compilers, and what the launchers call their own.
static bool isReserved(StringRef name) {
  static constexpr StringLiteral words[] = {"alignas",
                                            "alignof",
                                            "and",
                                            "and_eq",
                                            "asm",
                                            "auto",
                                            "bitand",
                                            "bitor",
                                            "bool",
                                            "break",
                                            "case",
                                            "catch",
                                            "char",
                                            "class",
                                            "co_await",
                                            "co_return",
                                            "co_yield",
                                            "compl",
                                            "concept",
                                            "const",
                                            "const_cast",
                                            "consteval",
                                            "constexpr",
                                            "constinit",
                                            "continue",
                                            "decltype",
                                            "default",
                                            "delete",
                                            "do",
                                            "double",
                                            "dynamic_cast",
                                            "else",
                                            "enum",
                                            "errno",
                                            "explicit",
                                            "export",
                                            "extern",
                                            "false",
                                            "float",
                                            "for",
                                            "friend",
                                            "goto",
                                            "if",
                                            "inline",
                                            "int",
                                            "linux",
                                            "long",
                                            "mutable",
                                            "namespace",
                                            "new",
                                            "noexcept",
                                            "not",
                                            "not_eq",
                                            "nullptr",
                                            "operator",
                                            "or",
                                            "or_eq",
                                            "private",
                                            "protected",
                                            "public",
                                            "register",
                                            "reinterpret_cast",
                                            "requires",
                                            "restrict",
                                            "return",
                                            "short",
                                            "signed",
                                            "sizeof",
                                            "static",
                                            "static_assert",
                                            "static_cast",
                                            "stderr",
                                            "stdin",
                                            "stdout",
                                            "stream",
                                            "struct",
                                            "switch",
                                            "template",
                                            "this",
                                            "thread_local",
                                            "throw",
                                            "true",
                                            "try",
                                            "typedef",
                                            "typeid",
                                            "typename",
                                            "typeof",
                                            "union",
                                            "unix",
                                            "unsigned",
                                            "using",
                                            "virtual",
                                            "void",
                                            "volatile",
                                            "wchar_t",
                                            "while",
                                            "workspace",
                                            "workspace_bytes",
                                            "xor",
                                            "xor_eq",
                                            "I",
                                            "NULL",
                                            "EOF",
                                            "assert",
                                            "complex"};
  return is_contained(words, name) || name.starts_with("_") || name.starts_with("tilec_") || name.starts_with("cu") ||
         name.starts_with("CU") || name.ends_with("_t") || name.starts_with("INT") || name.starts_with("UINT");
}

ArgumentNames::ArgumentNames(const KernelInfo &kernel) {
  for (const Argument &argument : kernel.arguments) {
    add(argument.name, argument.name);
    for (size_t i = 0; argument.dynamicStrides && i < argument.shape.size(); ++i) {
      std::string index = utostr(i);
      add(argument.name + ".stride" + index, argument.name + "_stride" + index);
    }
  }
  for (const Workspace &workspace : kernel.workspaces)
    add(workspace.name, "tilec_temp_" + workspace.name);
}

void ArgumentNames::add(StringRef name, StringRef wanted) {
  std::string chosen = toIdentifier(wanted);
  if (isReserved(wanted) && !wanted.starts_with("tilec_temp_"))
    chosen = "x" + chosen + "_";
  while (!taken.insert(chosen).second)
    chosen += "_";
  names[name] = chosen;
}

StringRef ArgumentNames::get(StringRef name) const {
  auto found = names.find(name);
  assert(found != names.end() && "a host expression names an unknown argument");
  return found == names.end() ? StringRef() : StringRef(found->second);
}

std::string ExprPrinter::printList(ArrayRef<HostExpr> exprs) const {
  return "{" + join(map_range(exprs, [&](const HostExpr &expr) { return print(expr); }), ", ") + "}";
}

std::string ExprPrinter::printName(StringRef name) const {
  if (name == "sm_count")
    return "tilec_sm_count";
  std::string cName = names.get(name).str();
  for (const Argument &argument : kernel.arguments) {
    if (argument.kind != Argument::Kind::Scalar || argument.name != name)
      continue;
    // Narrow floats arrive as bits.
    if (argument.type == "bf16" || argument.type == "f16")
      return formatv("{0}_from_{1}_({2})", prefix, argument.type, cName);
    if (argument.type != "f32" && argument.type != "f64")
      return "(int64_t)" + cName;
  }
  return cName;
}

std::string ExprPrinter::print(const HostExpr &expr) const {
  switch (expr.kind) {
  case HostExpr::Kind::Integer:
    if (expr.integer == INT64_MIN)
      return "INT64_MIN";
    if (isInt<32>(expr.integer))
      return itostr(expr.integer);
    return "INT64_C(" + itostr(expr.integer) + ")";
  case HostExpr::Kind::Float:
    return formatv("{0:e17}", expr.number);
  case HostExpr::Kind::Name:
    return printName(expr.text);
  case HostExpr::Kind::Operation:
    return printOperation(expr);
  }
  llvm_unreachable("all kinds are handled");
}

std::string ExprPrinter::printOperation(const HostExpr &expr) const {
  ArrayRef<HostExpr> operands = expr.operands;
  if (expr.text == "aligned") {
    StringRef cName = names.get(operands[0].text);
    return formatv("({0} == 0 || {1} % {2} == 0)", spanName(cName), cName, operands[1].integer);
  }
  if (expr.text == "not")
    return "!(" + print(operands[0]) + ")";
  StringRef infix = StringSwitch<StringRef>(expr.text)
                        .Case("eq", " == ")
                        .Case("ne", " != ")
                        .Case("lt", " < ")
                        .Case("le", " <= ")
                        .Case("gt", " > ")
                        .Case("ge", " >= ")
                        .Case("and", " && ")
                        .Case("or", " || ")
                        .Default("");
  if (!infix.empty())
    return "(" + join(map_range(operands, [&](const HostExpr &operand) { return print(operand); }), infix) + ")";
  std::string result = print(operands[0]);
  for (const HostExpr &operand : operands.drop_front())
    result = formatv("{0}_{1}_({2}, {3})", prefix, expr.text, result, print(operand));
  return result;
}

bool mentions(const HostExpr &expr, StringRef name) {
  return (expr.kind == HostExpr::Kind::Name && expr.text == name) ||
         any_of(expr.operands, [&](const HostExpr &operand) { return mentions(operand, name); });
}

} // namespace tilec
