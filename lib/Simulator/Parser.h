// The parser of PTX: recursive descent with one token of lookahead.
#ifndef TILEC_SIMULATOR_PARSER_H
#define TILEC_SIMULATOR_PARSER_H

#include "Lexer.h"
#include "tilec/Simulator/Ptx.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace tilec::simulator {

class Parser {
public:
  explicit Parser(llvm::StringRef text) : lexer(text) { advance(); }
  llvm::Expected<PtxModule> parse();

private:
  /// Names between braces. Labels that an instruction uses before they are placed wait in `pending`.
  struct Scope {
    llvm::StringMap<unsigned> registers, variables, labels;
    std::vector<std::pair<unsigned, unsigned>> pending; // instruction, operand
  };

  // Every parse function returns false after `fail`.
  bool fail(const llvm::Twine &what);
  bool failAt(unsigned line, const llvm::Twine &what);
  void advance();
  bool expect(char character);
  bool accept(char character);
  bool expectName(std::string &name);
  bool expectInteger(uint64_t &value);
  void skipLine(unsigned line);
  bool skipBraces();

  bool parseDirective();
  bool parseFile();
  bool parseVariable(Space space, bool isExtern, std::vector<PtxVariable> &list, bool isParameter);
  bool parseInitializer(PtxVariable &variable, unsigned elementBytes, std::vector<uint8_t> &bytes);
  bool parseEntry();
  bool parseFunction();
  bool parseParameters();
  bool parseKernelDirectives();
  bool parseThree(unsigned (&values)[3]);
  bool parseBody();
  bool parseBodyDirective();
  bool parseRegisters();
  bool parseLocation();
  bool parseInstruction();
  bool parseCall(Instruction &instruction);
  bool parseLabel(llvm::StringRef name);
  bool closeScope();

  bool parseOperand(Operand &operand);
  bool parseName(Operand &operand);
  bool parseNumber(Operand &operand);
  bool parseList(Operand &operand, char end);
  bool parseAddress(Operand &operand);
  const unsigned *lookupRegister(llvm::StringRef name) const;
  const unsigned *lookupVariable(llvm::StringRef name) const;

  Lexer lexer;
  Token token;
  std::string message;
  PtxModule module;
  PtxKernel *kernel = nullptr;
  std::vector<Scope> scopes;
  llvm::StringMap<unsigned> moduleVariables;
  unsigned sourceFile = 0, sourceLine = 0;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_PARSER_H
