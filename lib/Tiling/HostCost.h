// Host expressions (docs/abi.md) of costs.
#ifndef TILEC_TILING_HOSTCOST_H
#define TILEC_TILING_HOSTCOST_H

#include "tilec/Sema/TypedStmt.h"

namespace tilec::host {

using Expr = sema::HostExpr;

/// Folded where both operands are numbers.
Expr add(Expr a, Expr b);
Expr mul(Expr a, Expr b);
Expr div(Expr a, Expr b);
Expr ceilDiv(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr min(Expr a, Expr b);
/// 1 where `a` is no multiple of the number `b`, else 0.
Expr isNoMultiple(Expr a, int64_t b);
/// The multiprocessors of the device.
Expr multiprocessors();

/// upper - lower of an axis. A bound that the host cannot know, such as the end of a causal row, is replaced by its
/// greatest value over the enclosing axes where that is known.
std::optional<Expr> lengthOf(const sema::Axis &axis);
std::optional<Expr> lengthOf(const sema::Binding &binding);

/// Whether the host knows the length itself, so that it is the same in all iterations around the axis.
bool knowsLengthOf(const sema::Axis &axis);

} // namespace tilec::host

#endif // TILEC_TILING_HOSTCOST_H
