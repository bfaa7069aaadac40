//===- TGIndices.h - tg ops that use integers as indices --------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_TGINDICES_H
#define BRAID_DIALECTS_TG_TGINDICES_H

#include "mlir/IR/MLIRContext.h"

namespace braid::tg {
/// Attaches IndexingOpInterface to the ops of the dialect, which must be loaded.
void attachIndexRanges(mlir::MLIRContext &context);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGINDICES_H
