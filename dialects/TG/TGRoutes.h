//===- TGRoutes.h - the ops of tg that send tokens somewhere ----*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_TGROUTES_H
#define BRAID_DIALECTS_TG_TGROUTES_H

#include "mlir/IR/MLIRContext.h"

namespace braid::tg {
/// Gives the ops of the dialect, which has been loaded, RoutingOpInterface.
void attachRoutes(mlir::MLIRContext &context);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGROUTES_H
