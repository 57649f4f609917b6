// The parser of PTX: modules, directives, variables, kernels.
#include "Parser.h"

#include "Calls.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tilec::simulator;
using llvm::StringRef;
using llvm::Twine;

std::string Instruction::opcode() const {
  std::string text = name;
  for (const std::string &modifier : modifiers)
    text += "." + modifier;
  return text;
}

bool Instruction::has(StringRef modifier) const {
  for (const std::string &candidate : modifiers)
    if (modifier == candidate)
      return true;
  return false;
}

const PtxKernel *PtxModule::find(StringRef name) const {
  for (const PtxKernel &candidate : kernels)
    if (name == candidate.name)
      return &candidate;
  return nullptr;
}

llvm::Expected<PtxModule> tilec::simulator::parsePtx(StringRef text) { return Parser(text).parse(); }

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

bool Parser::failAt(unsigned line, const Twine &what) {
  if (message.empty())
    message = ("line " + Twine(line) + ": " + what).str();
  return false;
}

bool Parser::fail(const Twine &what) { return failAt(token.line, what); }
void Parser::advance() { token = lexer.next(); }

bool Parser::accept(char character) {
  if (!token.is(character))
    return false;
  advance();
  return true;
}

bool Parser::expect(char character) {
  return accept(character) || fail("expected `" + Twine(character) + "`, found `" + token.text + "`");
}

bool Parser::expectName(std::string &name) {
  if (token.kind != Token::Name)
    return fail("expected a name, found `" + token.text + "`");
  name = token.text.str();
  advance();
  return true;
}

bool Parser::expectInteger(uint64_t &value) {
  if (token.kind != Token::Integer)
    return fail("expected a number, found `" + token.text + "`");
  value = token.bits;
  advance();
  return true;
}

void Parser::skipLine(unsigned line) {
  while (token.kind != Token::End && token.line == line)
    advance();
}

bool Parser::skipBraces() {
  if (!expect('{'))
    return false;
  for (unsigned depth = 1; depth; advance()) {
    if (token.kind == Token::End)
      return fail("`{` without `}`");
    depth += token.is('{');
    depth -= token.is('}');
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

llvm::Expected<PtxModule> Parser::parse() {
  while (message.empty() && token.kind != Token::End)
    if (!parseDirective())
      break;
  if (!message.empty())
    return llvm::createStringError(message);
  if (llvm::Error error = inlineCalls(module))
    return std::move(error);
  return std::move(module);
}

bool Parser::parseFile() {
  uint64_t number = 0;
  unsigned line = token.line;
  if (!expectInteger(number))
    return false;
  if (token.kind != Token::String || number > 1u << 16)
    return fail("expected the name of a file");
  if (module.files.size() <= number)
    module.files.resize(number + 1);
  module.files[number] = token.text.str();
  skipLine(line);
  return true;
}

bool Parser::parseDirective() {
  if (token.kind != Token::Dotted)
    return fail("expected a directive, found `" + token.text + "`");
  unsigned line = token.line;
  bool isExtern = false;
  while (token.kind == Token::Dotted &&
         (token.text == "visible" || token.text == "extern" || token.text == "weak" || token.text == "common")) {
    isExtern |= token.text == "extern";
    advance();
  }
  StringRef name = token.text;
  advance();
  if (name == "version" || name == "address_size") {
    skipLine(line);
    return true;
  }
  if (name == "target") {
    module.target = token.text.str();
    skipLine(line);
    return true;
  }
  if (name == "file")
    return parseFile();
  if (name == "section")
    return advance(), skipBraces();
  if (name == "pragma") {
    advance();
    return expect(';');
  }
  if (name == "entry")
    return parseEntry();
  if (name == "func")
    return parseFunction();
  if (name == "const" || name == "shared") {
    if (!parseVariable(name == "const" ? Space::Constant : Space::Shared, isExtern, module.variables, false) ||
        !expect(';'))
      return false;
    moduleVariables[module.variables.back().name] = module.variables.size() - 1;
    return true;
  }
  return fail("the simulator does not know the directive `." + name + "`");
}

// Bytes of a fundamental type, 0 if there is no such type.
static unsigned typeBytes(StringRef name) {
  if (name == "pred")
    return 1;
  unsigned bits = 0;
  if (name.empty() || !StringRef("busf").contains(name[0]) || name.drop_front().getAsInteger(10, bits))
    return name == "f16x2" ? 4 : 0;
  return llvm::isPowerOf2_32(bits) && bits >= 8 && bits <= 128 ? bits / 8 : 0;
}

bool Parser::parseVariable(Space space, bool isExtern, std::vector<PtxVariable> &list, bool isParameter) {
  PtxVariable variable;
  variable.space = space;
  variable.isExtern = isExtern;
  unsigned elementBytes = 0, alignment = 0;
  uint64_t count = 1;
  bool pointer = false;
  for (; token.kind == Token::Dotted; advance()) {
    if (token.text == "align") {
      advance();
      if (token.kind != Token::Integer)
        return fail("expected an alignment");
      if (!pointer)
        alignment = token.bits;
    } else if (unsigned bytes = typeBytes(token.text)) {
      elementBytes = bytes;
    } else if (token.text == "v2" || token.text == "v4") {
      count = token.text == "v2" ? 2 : 4;
    } else {
      pointer |= token.text == "ptr";
    }
  }
  if (!elementBytes)
    return fail("a variable without a type");
  if (!expectName(variable.name))
    return false;
  bool unsized = false;
  while (accept('[')) {
    uint64_t extent = 0;
    if (token.is(']'))
      unsized = true;
    else if (!expectInteger(extent))
      return false;
    count *= unsized ? 0 : extent;
    if (!expect(']'))
      return false;
  }
  variable.alignment = alignment ? alignment : elementBytes;
  if (!llvm::isPowerOf2_32(variable.alignment))
    return fail("an alignment that is no power of two");
  variable.size = count * elementBytes;
  if (!isParameter && accept('=')) {
    std::vector<uint8_t> bytes;
    if (!parseInitializer(variable, elementBytes, bytes))
      return false;
    if (unsized)
      variable.size = bytes.size();
    bytes.resize(variable.size);
    variable.initializer = std::move(bytes);
  }
  list.push_back(std::move(variable));
  return true;
}

bool Parser::parseInitializer(PtxVariable &variable, unsigned elementBytes, std::vector<uint8_t> &bytes) {
  if (accept('{')) {
    while (!token.is('}')) {
      if (!parseInitializer(variable, elementBytes, bytes))
        return false;
      if (!accept(',') && !token.is('}'))
        return expect('}');
    }
    advance();
    return true;
  }
  bool negative = accept('-');
  if (token.kind != Token::Integer && token.kind != Token::Float32 && token.kind != Token::Float64)
    return fail("the initial value of `" + Twine(variable.name) + "` is not a number");
  uint64_t bits = negative ? -token.bits : token.bits;
  if (elementBytes > sizeof(bits))
    return fail("initial values of 128 bits");
  size_t end = bytes.size();
  bytes.resize(end + elementBytes);
  std::memcpy(&bytes[end], &bits, elementBytes);
  advance();
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

bool Parser::parseEntry() {
  module.kernels.emplace_back();
  kernel = &module.kernels.back();
  sourceFile = sourceLine = 0;
  return expectName(kernel->name) && parseParameters() && parseKernelDirectives() && parseBody();
}

// .func (results) name (parameters), and a body or a semicolon
bool Parser::parseFunction() {
  PtxKernel function;
  kernel = &function;
  if (!parseParameters())
    return false;
  function.numResults = function.parameters.size();
  if (!expectName(function.name) || !parseParameters() || !parseKernelDirectives())
    return false;
  if (accept(';'))
    return true;
  if (!parseBody())
    return false;
  module.functions.push_back(std::move(function));
  return true;
}

bool Parser::parseParameters() {
  if (!accept('('))
    return true;
  while (!token.is(')')) {
    if (token.kind != Token::Dotted || token.text != "param")
      return fail("expected `.param`");
    advance();
    if (!parseVariable(Space::Parameter, false, kernel->parameters, true))
      return false;
    PtxVariable &parameter = kernel->parameters.back();
    parameter.offset = llvm::alignTo(kernel->parameterBytes, parameter.alignment);
    kernel->parameterBytes = parameter.offset + parameter.size;
    if (!accept(',') && !token.is(')'))
      return expect(')');
  }
  advance();
  return true;
}

bool Parser::parseThree(unsigned (&values)[3]) {
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value = 1;
    if ((i == 0 || accept(',')) && !expectInteger(value))
      return false;
    values[i] = value;
  }
  return true;
}

bool Parser::parseKernelDirectives() {
  while (token.kind == Token::Dotted) {
    StringRef name = token.text;
    advance();
    uint64_t value = 0;
    if (name == "reqntid") {
      if (!parseThree(kernel->requiredThreads))
        return false;
    } else if (name == "reqnctapercluster") {
      if (!parseThree(kernel->requiredCluster))
        return false;
    } else if (name == "maxntid") {
      unsigned most[3];
      if (!parseThree(most))
        return false;
      kernel->maximumThreads = most[0] * most[1] * most[2];
    } else if (name == "minnctapersm" || name == "maxnreg" || name == "maxclusterrank") {
      if (!expectInteger(value))
        return false;
      (name == "maxnreg" ? kernel->maximumRegisters : kernel->minimumBlocks) = value;
    } else if (name == "pragma") {
      advance();
      if (!expect(';'))
        return false;
    } else if (name != "explicitcluster" && name != "noreturn" && name != "blocksareclusters") {
      return fail("the simulator does not know the directive `." + name + "`");
    }
  }
  return true;
}

bool Parser::parseBody() {
  if (!expect('{'))
    return false;
  scopes.assign(1, Scope());
  for (unsigned i = 0; i < kernel->parameters.size(); ++i)
    scopes[0].variables[kernel->parameters[i].name] = kernelVariable + i;
  while (!scopes.empty()) {
    if (token.kind == Token::End)
      return fail("`{` without `}`");
    if (accept('{')) {
      scopes.emplace_back();
    } else if (token.is('}')) {
      if (!closeScope())
        return false;
      advance();
    } else if (!(token.kind == Token::Dotted ? parseBodyDirective() : parseInstruction())) {
      return false;
    }
  }
  return true;
}

// Labels of inner scopes hide those of outer ones; what is not found here may be in the scope around it.
bool Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (auto [instruction, index] : scope.pending) {
    Operand &operand = kernel->instructions[instruction].operands[index];
    auto found = scope.labels.find(operand.name);
    if (found != scope.labels.end())
      operand.index = found->second;
    else if (!scopes.empty())
      scopes.back().pending.push_back({instruction, index});
    else
      return failAt(kernel->instructions[instruction].line, "`" + Twine(operand.name) + "` is not declared");
  }
  return true;
}

bool Parser::parseBodyDirective() {
  StringRef name = token.text;
  unsigned line = token.line;
  advance();
  if (name == "reg")
    return parseRegisters();
  if (name == "loc")
    return parseLocation();
  if (name == "pragma")
    return advance(), expect(';');
  if (name == "shared" || name == "local" || name == "param") {
    if (!parseVariable(name == "shared" ? Space::Shared : Space::Local, false, kernel->variables, false))
      return false;
    unsigned index = kernel->parameters.size() + kernel->variables.size() - 1;
    scopes.back().variables[kernel->variables.back().name] = kernelVariable + index;
    return expect(';');
  }
  return failAt(line, "the simulator does not know the directive `." + name + "` in a kernel");
}

bool Parser::parseRegisters() {
  unsigned bits = 32;
  for (; token.kind == Token::Dotted; advance()) {
    unsigned bytes = typeBytes(token.text);
    if (!bytes || bytes > 8)
      return fail("registers of type `." + token.text + "`");
    bits = token.text == "pred" ? 1 : bytes * 8;
  }
  auto declare = [&](const std::string &name) {
    scopes.back().registers[name] = kernel->registers.size();
    kernel->registers.push_back({name, bits});
  };
  do {
    std::string name;
    uint64_t count = 0;
    if (!expectName(name))
      return false;
    if (!accept('<')) {
      declare(name);
      continue;
    }
    if (!expectInteger(count) || !expect('>'))
      return false;
    if (count > 1u << 20)
      return fail("too many registers");
    for (uint64_t i = 0; i < count; ++i)
      declare(name + std::to_string(i));
  } while (accept(','));
  return expect(';');
}

// .loc file line column[, function_name ..., inlined_at ...]
bool Parser::parseLocation() {
  unsigned line = token.line;
  uint64_t file = 0, sourceLineNumber = 0;
  if (!expectInteger(file) || !expectInteger(sourceLineNumber))
    return false;
  sourceFile = file;
  sourceLine = sourceLineNumber;
  skipLine(line);
  return true;
}
