//===- VerifyShardings.h - ops and shardings fit their rules ----*- C++ -*-===//
//
// Uses only rules and attributes; independent of how shardings were found or reshards placed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_VERIFYSHARDINGS_H
#define BRAID_LIB_SHARDING_VERIFYSHARDINGS_H

#include "dialects/Comm/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Checks that every value of a global function has a sharding and that these fit the rules
/// of the ops. No op may use partial values as if they were reduced, and results must have the
/// shardings that the function declares. Reports all errors.
llvm::LogicalResult verifyShardings(mlir::func::FuncOp function, mlir::FlatSymbolRefAttr symbol,
                                    const comm::Mesh &mesh);

} // namespace braid

#endif // BRAID_LIB_SHARDING_VERIFYSHARDINGS_H
