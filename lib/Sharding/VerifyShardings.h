//===- VerifyShardings.h - ops and shardings fit their rules ----*- C++ -*-===//
//
// Reads rules and attributes alone; it knows nothing of how shardings were found
// or reshards placed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_VERIFYSHARDINGS_H
#define BRAID_LIB_SHARDING_VERIFYSHARDINGS_H

#include "dialects/Comm/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Checks that every value of a global function has a sharding, that these fit the
/// rules of the ops, that partial values are not used as if reduced, and that results
/// are held as the function says.  All errors are reported.
llvm::LogicalResult verifyShardings(mlir::func::FuncOp function, mlir::FlatSymbolRefAttr symbol,
                                    const comm::Mesh &mesh);

} // namespace braid

#endif // BRAID_LIB_SHARDING_VERIFYSHARDINGS_H
