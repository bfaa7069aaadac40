//===- Recognize.h - composites that a framework spelled out ----*- C++ -*-===//
//
// Models write norms, activations and rotations as arithmetic. These patterns find such arithmetic in a graph and
// replace it by the op of tg, which targets have fast code for and autodiff a short gradient. A formula that differs in
// anything is left alone.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_RECOGNIZE_H
#define BRAID_LIB_IMPORT_RECOGNIZE_H

#include "dialects/TG/TG.h"
#include "lib/Import/Known.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <optional>
#include <tuple>

namespace braid {

using KnownValues = llvm::DenseMap<mlir::Value, Known>;

/// Number of places by pattern.
using Recognized = llvm::MapVector<llvm::StringRef, int64_t>;

/// The angles of a rotary embedding.
struct RopeAngles {
  double theta;
  tg::RopeScalingAttr scaling;
};

/// Angles by the numbers of their cosines and sines, the lanes of these tables, and those of a head; nothing where
/// these are no rotary embedding.
using RopeTables = std::map<std::tuple<const void *, const void *, int64_t, int64_t>, std::optional<RopeAngles>>;

/// Replaces what is recognized. Ops that are then unused stay.
Recognized recognize(mlir::func::FuncOp function, const KnownValues &known);

/// Replaces look-ups of a table's rows at an input, so that data are checked against the table.
Recognized recognizeIndices(mlir::func::FuncOp function);

namespace patterns {
/// Return the value that replaces the result of `op`, or null.
mlir::Value mean(mlir::Operation *op);
mlir::Value rmsNorm(mlir::Operation *op);
mlir::Value layerNorm(mlir::Operation *op);
mlir::Value normScale(mlir::Operation *op);
mlir::Value normBias(mlir::Operation *op);
mlir::Value silu(mlir::Operation *op);
mlir::Value sigmoid(mlir::Operation *op);
mlir::Value softmax(mlir::Operation *op);
mlir::Value rowsByInput(mlir::Operation *op);
mlir::Value crossEntropy(mlir::Operation *op);
mlir::Value maskedCrossEntropy(mlir::Operation *op);
mlir::Value meanLoss(mlir::Operation *op);
mlir::Value gelu(mlir::Operation *op);
mlir::Value rope(mlir::Operation *op, const KnownValues &known, RopeTables &compared);
mlir::Value partialRope(mlir::Operation *op);
mlir::Value attention(mlir::Operation *op, const KnownValues &known);
} // namespace patterns

} // namespace braid

#endif // BRAID_LIB_IMPORT_RECOGNIZE_H
