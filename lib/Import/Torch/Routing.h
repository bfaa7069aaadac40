//===- Routing.h - tokens in the order of their experts ---------*- C++ -*-===//
//
// Mixtures of experts sort the choices of tokens by expert, multiply each group of rows by its expert's weights, and
// put the rows back. Here experts have slots (TGExperts.td), and no order of rows exists. So tensors between the sort
// and its inverse are no values of the graph: this table says what each of them stands for. Ops that treat rows alike
// work on the experts' slots.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_ROUTING_H
#define BRAID_LIB_IMPORT_TORCH_ROUTING_H

#include "lib/Import/Torch/Translator.h"

namespace braid::torch {

/// The choices of a router.
struct Route {
  /// Experts of each token, [rows, tokens, k].
  mlir::Value chosen;
  /// The results of tg.expert_slots, once the number of experts is known.
  mlir::Value slots, choices;
  int64_t numChoices() const { return tg::typeOf(chosen).getNumElements(); }
  int64_t k() const { return tg::typeOf(chosen).getShape().back(); }
};

/// A tensor in the order of experts.
struct Routed {
  enum class Kind {
    Order,   ///< Number of the choice in each place.
    Experts, ///< Expert of each place, perhaps as floats.
    Tokens,  ///< Token of each place.
    Counts,  ///< Number of places of each expert.
    Ends,    ///< End of each expert's places.
    Empty,   ///< Memory for the inverse.
    Inverse, ///< Place of each choice.
    Weights, ///< Weight of each place's choice; `value` has them in the order of choices.
    Inputs,  ///< Token rows; `value` is [tokens, size].
    Rows     ///< Rows that `value` has by slots: [experts, rows, slots, size].
  } kind;
  std::shared_ptr<Route> route;
  mlir::Value value;
  /// Weights by which rows are still to be multiplied, in the order of choices.
  mlir::Value weights = {};
};

/// Rows of ops that only the routing of experts has.
llvm::ArrayRef<OpRow> routingRows();

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_ROUTING_H
