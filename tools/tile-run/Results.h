// What becomes of a kernel's results: files, comparisons, the first elements.
#ifndef TILEC_TOOLS_TILE_RUN_RESULTS_H
#define TILEC_TOOLS_TILE_RUN_RESULTS_H

#include "Console.h"
#include "Options.h"
#include "tilec/Runner/Reference.h"
#include "tilec/Runner/Session.h"

namespace tilec {

class Results {
public:
  Results(const TileRunOptions &options, const Console &console) : options(options), console(console) {}

  /// Reads reference expressions and arrays, and checks the names of results, before anything runs.
  int prepare(const std::string &kernel, const runner::Arguments &arguments);
  /// Writes, compares and shows the results of a run.
  int use(runner::Session &session, const runner::Arguments &arguments);

private:
  struct Check {
    /// Of the result; empty if the kernel has one.
    std::string name;
    std::string origin;
    std::optional<interpreter::NpyArray> array;
    std::unique_ptr<runner::Reference> expression;
    /// Evaluated at the first use.
    std::optional<std::vector<runner::ReferenceTensor>> expected;
  };
  int readCheck(const CheckOption &option, const std::string &kernel, const runner::Arguments &arguments);
  int checkNames(const runner::Arguments &arguments);
  int write(llvm::StringRef name, llvm::StringRef path, const runner::HostTensor &result);
  int compareArray(const Check &check, llvm::StringRef name, const runner::HostTensor &result);
  int evaluate(Check &check, const runner::Arguments &arguments);
  int compareExpression(const Check &check, const runner::ReferenceTensor &expected, const runner::HostTensor &result);
  int tell(llvm::StringRef name, llvm::StringRef against, const runner::HostTensor &result,
           const runner::Tolerance &tolerance, const runner::Comparison &comparison, bool bounded);
  runner::Tolerance overridden(runner::Tolerance tolerance) const;
  void show(llvm::StringRef name, const runner::HostTensor &tensor);

  const TileRunOptions &options;
  const Console &console;
  std::vector<std::string> names;
  std::vector<Check> checks;
};

} // namespace tilec

#endif // TILEC_TOOLS_TILE_RUN_RESULTS_H
