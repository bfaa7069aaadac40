//===- Replays.h - marks of recomputed ops ----------------------*- C++ -*-===//
//
// A replay is an op of the backward pass that recomputes an op of the forward pass, so that the
// forward result need not be kept. Both ops carry the same number, which is unique to the repeated
// op in its function. They carry it from the pass that makes replays to the pass that verifies them.
// Before that, an op of the forward pass may state whether its value is kept or replayed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_REPLAYS_H
#define BRAID_DIALECTS_TG_REPLAYS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace braid::tg {

/// Attributes that hold the number: on the repeated op, and on its replays.
inline constexpr llvm::StringLiteral kRepeated = "tg.repeated", kReplays = "tg.replays";

/// Boolean attribute of an op of the forward pass: backward keeps its value (true) or computes it again (false).
inline constexpr llvm::StringLiteral kKept = "tg.kept";

/// Returns the number that an op carries under one of these names.
inline std::optional<int64_t> replayNumber(mlir::Operation *op, llvm::StringRef name) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_REPLAYS_H
