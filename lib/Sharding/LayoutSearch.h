//===- LayoutSearch.h - search for the sharding of weights ------*- C++ -*-===//
//
// Tensor parallelism is a choice for every op of a model: the factor of its sharding rule along
// which the ranks of an axis divide it, if any. The rules determine what a choice sends: a
// tensor that is held in one layout and needed in another is resharded, and so is its gradient
// on the way back. The search finds the choice with, in this order,
//
// 1. the fewest bytes of weights a rank (weights are parameters that are contracted or looked up
//    by index; they are not gathered: that is ZeRO),
// 2. with `sequence`, the fewest bytes of activations, 3. the least time of collectives in a
// step, as bytes, and 4. the fewest collectives.
//
// The search is exact (MinimumCost.h). For a transformer it finds the layout of Megatron-LM
// (Shoeybi et al. 2019), with `sequence` the layout of Korthikanti et al. 2022.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_LAYOUTSEARCH_H
#define BRAID_LIB_SHARDING_LAYOUTSEARCH_H

#include "dialects/Interfaces/ShardingRule.h"
#include "lib/Sharding/CommonDims.h"
#include "lib/Sharding/MinimumCost.h"
#include "lib/Sharding/TokenDims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <set>

namespace braid {

/// Layout of a tensor: the number of its sharded dim, or one of these.
inline constexpr int64_t kWhole = -1;   ///< Every rank has all of it.
inline constexpr int64_t kPartial = -2; ///< Every rank has a summand.

struct LayoutChoice {
  /// Sharded dim of each parameter, or kWhole.
  llvm::MapVector<mlir::BlockArgument, int64_t> weights;
  /// Weights among them (contracted or looked up) that stay whole.
  llvm::SmallVector<mlir::BlockArgument> undivided;
  /// Layouts of values whose op makes them in another layout, or of which an op needs a part in another layout.
  llvm::MapVector<mlir::Value, int64_t> held;
  /// Layouts in which ops need activations that are held in another layout.
  std::vector<std::pair<mlir::OpOperand *, int64_t>> needed;
  /// Bytes of activations and their gradients that a rank with the whole batch sends, by unit of the last
  /// parameters that they depend on; null if they depend on none.
  llvm::MapVector<mlir::StringAttr, int64_t> sent;
  Cost cost;
};

struct LayoutOptions {
  int64_t ranks;         ///< Number of ranks along the axis.
  bool sequence = false; ///< The axis may also shard the sequence of activations.
  CommonDims taken = {}; ///< Dims that other axes shard; this axis leaves them alone.
  /// Bytes that the link sends in the latency of a collective. The default, 20 us at 12.5 GB/s, belongs to no target,
  /// so that the layout is the same on all targets.
  int64_t latencyBytes = 250000;
};

class LayoutSearch {
public:
  LayoutSearch(mlir::func::FuncOp model, LayoutOptions options);

  /// Runs the search; no value if the graph is too entangled for an exact answer.
  std::optional<LayoutChoice> run();
  /// Returns the costs, for tests that compare the answer with all choices.
  MinimumCost &problem() { return prices; }

  const TokenDims &tokenDims() const { return tokens; }
  /// Returns whether other axes shard a dim.
  bool isAlreadySharded(mlir::Value value, int64_t dim) const { return options.taken.contains(value, dim); }

private:
  struct Node {
    mlir::Operation *op;
    ShardingRule rule;
    llvm::SmallVector<int64_t> factors; ///< kWhole, then the factors that the axis may shard.
    unsigned variable;
  };
  /// Layouts of a value. It is held in one layout, and resharded once for all readers of a
  /// second layout. Its gradient is accumulated in a third.
  struct Held {
    llvm::SmallVector<int64_t> layouts, gradientLayouts;
    /// Whether it is a parameter, perhaps moved or rounded, and whether that is contracted or looked up.
    bool isParameter = false, isWeight = false;
    bool hasGradient = false;
    unsigned variable = 0;
    int64_t bytes = 0;
    size_t count() const { return layouts.size() * layouts.size() * gradientLayouts.size(); }
    int64_t layout(unsigned value) const { return layouts[value / gradientLayouts.size() / layouts.size()]; }
    int64_t secondLayout(unsigned value) const { return layouts[value / gradientLayouts.size() % layouts.size()]; }
    int64_t gradientLayout(unsigned value) const { return gradientLayouts[value % gradientLayouts.size()]; }
  };

  void addNode(mlir::Operation *op);
  bool mayShard(const Node &node, unsigned factor) const;
  bool isAlreadySharded(const Node &node, unsigned factor) const;
  void addTensorVariable(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  llvm::DenseMap<mlir::Value, std::set<int64_t>> dimsOfNodes() const;
  void price(const Node &node);
  void priceOperand(const Node &node, unsigned operand);
  void priceResult(const Node &node, unsigned result);
  void priceTensor(mlir::Value value);
  /// Returns the cost of an operand held in layout `value`, for an op that computes along a factor, or kWhole.
  Cost operandCost(const Node &node, unsigned operand, const Held &held, unsigned value, int64_t factor) const;
  Cost resultCost(const Node &node, unsigned result, const Held &held, unsigned value, int64_t factor) const;
  Cost decomposedCost(const Node &node, int64_t factor) const;
  mlir::StringAttr unitOf(const Node &node) const;
  void readSent(llvm::ArrayRef<unsigned> values, LayoutChoice &choice) const;
  Cost sent(const Held &held, int64_t from, int64_t to) const;
  Cost moved(const Held &held, int64_t from, int64_t to) const;
  LayoutChoice read(llvm::ArrayRef<unsigned> values) const;

  mlir::func::FuncOp model;
  LayoutOptions options;
  TokenDims tokens;
  MinimumCost prices;
  std::vector<Node> nodes;
  llvm::MapVector<mlir::Value, Held> values;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_LAYOUTSEARCH_H
