//===- TGRoutes.h - tg ops that route tokens --------------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_TGROUTES_H
#define BRAID_DIALECTS_TG_TGROUTES_H

#include "mlir/IR/MLIRContext.h"

namespace braid::tg {
/// Attaches RoutingOpInterface to the ops of the dialect, which must be loaded.
void attachRoutes(mlir::MLIRContext &context);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGROUTES_H
