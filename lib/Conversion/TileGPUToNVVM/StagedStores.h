// Facts of staged stores that the tensor maps need.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H
#define TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H

#include "Lowering.h"

namespace tilec {

/// The buffer that a flush stores.
inline tilegpu::SmemType flushedBuffer(tilegpu::FlushOp op) {
  return llvm::cast<tilegpu::SmemType>(op.getRing().getType().getPayload().front());
}

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_STAGEDSTORES_H
