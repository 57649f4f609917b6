// Analysis of programs that are evaluated and not compiled: the references of tile-run's --check.
#ifndef TILEC_SEMA_REFERENCE_H
#define TILEC_SEMA_REFERENCE_H

#include "tilec/Sema/Sema.h"

namespace tilec {

/// As analyze, but accepts the algorithm level, re-indexing, scans and sorts along an axis, and `dot` with `where`,
/// which the compiler still refuses. `let s[i, j] = e` becomes a Temp tensor that one StoreStmt defines.
std::unique_ptr<sema::TypedProgram> analyzeReference(const ast::Program &program, DiagnosticEngine &engine,
                                                     const sema::Options &options);

} // namespace tilec

#endif // TILEC_SEMA_REFERENCE_H
