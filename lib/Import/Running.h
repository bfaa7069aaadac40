//===- Running.h - sums and products of all elements before each one ------===//
#ifndef BRAID_LIB_IMPORT_RUNNING_H
#define BRAID_LIB_IMPORT_RUNNING_H

#include "dialects/TG/TGBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// Combines each element with all before it along a dim, or with all behind it, in log2(n) steps: after step k each
/// element has combined the 2^k elements before it. `neutral` changes nothing.
mlir::Value running(tg::TensorBuilder &b, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine,
                    double neutral, mlir::Value a, int64_t dim, bool fromBehind = false);

} // namespace braid

#endif // BRAID_LIB_IMPORT_RUNNING_H
