// Rule 11: the types of arithmetic, and the type in which two types meet.
#ifndef TILEC_SEMA_PROMOTION_H
#define TILEC_SEMA_PROMOTION_H

#include "tilec/Sema/Type.h"
#include <optional>

namespace tilec::sema {

/// The type in which arithmetic on `kind` is done: f32 for narrower floats and tf32, i32 for narrower integers.
ScalarKind promote(ScalarKind kind);

/// The type in which two operands of arithmetic meet; nothing where a cast must be written.
std::optional<ScalarKind> meetInArithmetic(ScalarKind a, ScalarKind b);

/// The same for select, comparisons, min and max, which keep types.
std::optional<ScalarKind> meetKeeping(ScalarKind a, ScalarKind b);

/// Whether a value of `from` may be stored in a variable or tensor of `to` without a written cast.
bool convertsImplicitly(ScalarKind to, ScalarKind from);

/// The element type of `sum` and `prod`: f32 for floats up to f32, i32 or u32 for integers up to 32 bits and bool.
ScalarKind getAccumulator(ScalarKind kind);

} // namespace tilec::sema

#endif // TILEC_SEMA_PROMOTION_H
