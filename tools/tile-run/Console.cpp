// Prints errors.
#include "Console.h"

using namespace llvm;

int tilec::Console::fail(const Twine &message, int status) const {
  outs().flush();
  if (!message.isTriviallyEmpty() && !message.str().empty())
    errs() << "tile-run: error: " << message << "\n";
  return status;
}
