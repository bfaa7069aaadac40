//===- Replays.h - which ops repeat which ------------------------*- C++ -*-===//
//
// A replay is an op of backward that computes again what an op of forward has computed, so
// that it need not be kept in between.  Both carry a number, which is the repeated op's own in
// its function, from where replays are made to where they have been verified.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_REPLAYS_H
#define BRAID_DIALECTS_TG_REPLAYS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace braid::tg {

/// On an op that is repeated, and on those that repeat it.
inline constexpr llvm::StringLiteral kRepeated = "tg.repeated", kReplays = "tg.replays";

/// The number that an op carries under one of these names.
inline std::optional<int64_t> replayNumber(mlir::Operation *op, llvm::StringRef name) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_REPLAYS_H
