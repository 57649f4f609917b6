// The parser of PTX: instructions and operands.
#include "Parser.h"

using namespace tilec::simulator;
using llvm::StringRef;
using llvm::Twine;

bool Parser::parseLabel(StringRef name) {
  if (!scopes.back().labels.try_emplace(name, kernel->instructions.size()).second)
    return fail("the label `" + name + "` is there twice");
  return true;
}

bool Parser::parseInstruction() {
  Instruction instruction;
  instruction.line = token.line;
  instruction.sourceFile = sourceFile;
  instruction.sourceLine = sourceLine;
  if (accept('@')) {
    instruction.guardNegated = accept('!');
    const unsigned *guard = token.kind == Token::Name ? lookupRegister(token.text) : nullptr;
    if (!guard || kernel->registers[*guard].bits != 1)
      return fail("`" + token.text + "` is not a predicate");
    instruction.guard = static_cast<int>(*guard);
    advance();
  }
  StringRef name = token.text;
  if (!expectName(instruction.name))
    return false;
  if (instruction.guard < 0 && accept(':'))
    return parseLabel(name);
  for (; token.kind == Token::Dotted; advance())
    instruction.modifiers.push_back(token.text.str());
  if (instruction.name == "call" && !parseCall(instruction))
    return false;
  while (!token.is(';')) {
    Operand operand;
    if (!parseOperand(operand))
      return false;
    if (operand.is(Operand::Kind::Label))
      scopes.back().pending.push_back(
          {static_cast<unsigned>(kernel->instructions.size()), static_cast<unsigned>(instruction.operands.size())});
    instruction.operands.push_back(std::move(operand));
    if (!accept(',') && !token.is(';'))
      return expect(';');
  }
  advance();
  kernel->instructions.push_back(std::move(instruction));
  return true;
}

// call (results), function, (arguments): operands are a vector, the name, a vector.
bool Parser::parseCall(Instruction &instruction) {
  auto parseVariables = [&] {
    instruction.operands.emplace_back();
    Operand &list = instruction.operands.back();
    list.kind = Operand::Kind::Vector;
    return !accept('(') || accept(')') || parseList(list, ')');
  };
  bool hasResults = token.is('(');
  if (!parseVariables() || (hasResults && !expect(',')))
    return false;
  Operand function;
  function.kind = Operand::Kind::Special;
  if (!expectName(function.name))
    return false;
  instruction.operands.push_back(std::move(function));
  if (!token.is(';') && !expect(','))
    return false;
  return parseVariables();
}

const unsigned *Parser::lookupRegister(StringRef name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto found = scope->registers.find(name);
    if (found != scope->registers.end())
      return &found->second;
  }
  return nullptr;
}

const unsigned *Parser::lookupVariable(StringRef name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto found = scope->variables.find(name);
    if (found != scope->variables.end())
      return &found->second;
  }
  auto found = moduleVariables.find(name);
  return found == moduleVariables.end() ? nullptr : &found->second;
}

bool Parser::parseName(Operand &operand) {
  operand.name = token.text.str();
  if (const unsigned *index = lookupRegister(token.text)) {
    operand.kind = Operand::Kind::Register;
    operand.index = *index;
  } else if (const unsigned *variable = lookupVariable(token.text)) {
    operand.kind = Operand::Kind::Variable;
    operand.index = *variable;
  } else if (token.text == "_") {
    operand.kind = Operand::Kind::Sink;
  } else if (token.text.starts_with("%")) {
    operand.kind = Operand::Kind::Special;
    advance();
    if (token.kind == Token::Dotted) {
      operand.name += "." + token.text.str();
      advance();
    }
    return true;
  } else {
    operand.kind = Operand::Kind::Label;
  }
  advance();
  return true;
}

bool Parser::parseNumber(Operand &operand) {
  bool negative = accept('-');
  switch (token.kind) {
  case Token::Integer:
    operand.kind = Operand::Kind::Integer;
    operand.bits = negative ? -token.bits : token.bits;
    break;
  case Token::Float32:
    operand.kind = Operand::Kind::Float32;
    operand.bits = token.bits ^ (negative ? uint64_t(1) << 31 : 0);
    break;
  case Token::Float64:
    operand.kind = Operand::Kind::Float64;
    operand.bits = token.bits ^ (negative ? uint64_t(1) << 63 : 0);
    break;
  default:
    return fail("expected an operand, found `" + token.text + "`");
  }
  advance();
  return true;
}

bool Parser::parseList(Operand &operand, char end) {
  do {
    operand.elements.emplace_back();
    if (!parseOperand(operand.elements.back()))
      return false;
  } while (accept(','));
  return expect(end);
}

// [a], [a+8], [a+-8], [map, {x, y}], [a, b]
bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  if (!parseList(operand, ']'))
    return false;
  const Operand &base = operand.elements.front();
  if (!base.is(Operand::Kind::Register) && !base.is(Operand::Kind::Variable) && !base.is(Operand::Kind::Integer))
    return fail("an address that is neither a register nor a variable nor a number");
  return true;
}

bool Parser::parseOperand(Operand &operand) {
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseList(operand, '}');
  }
  if (accept('['))
    return parseAddress(operand);
  if (accept('!')) {
    if (token.kind != Token::Name || !parseName(operand))
      return fail("expected a predicate behind `!`");
    operand.negated = true;
    return true;
  }
  if (token.kind != Token::Name)
    return parseNumber(operand);
  if (!parseName(operand))
    return false;
  // Offsets of variables and registers in addresses; `a|b` of setp, elect and shfl.
  bool plus = token.is('+');
  if (plus || token.is('-')) {
    Operand offset;
    if (plus)
      advance();
    if (!parseNumber(offset))
      return false;
    operand.bits = offset.bits;
    return true;
  }
  if (!accept('|'))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.emplace_back();
  if (token.kind != Token::Name || !parseName(pair.elements.back()))
    return fail("expected a register behind `|`");
  operand = std::move(pair);
  return true;
}
