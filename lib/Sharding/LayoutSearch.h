//===- LayoutSearch.h - which dims of weights an axis shards ----*- C++ -*-===//
//
// Tensor parallelism is a choice for every op of a model: along which factor of its sharding
// rule the ranks of an axis divide it, if along any.  What a choice sends follows from the rules
// alone: a tensor that is held in one way and needed in another is resharded, and so is its
// gradient on the way back.  The search finds the choice with, in this order,
//
// 1. the fewest bytes of weights a rank (weights: parameters that are contracted or looked up by
//    index, which are not gathered: that is ZeRO),
// 2. with `sequence`, the fewest bytes of activations,
// 3. the least time of collectives in a step, as bytes, and
// 4. the fewest of them.
//
// It is exact (MinimumCost.h).  Of a transformer it finds the layout of Megatron-LM (Shoeybi et
// al. 2019), with `sequence` that of Korthikanti et al. 2022.
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

/// A dim of a tensor, or one of these.
inline constexpr int64_t kWhole = -1;   ///< Every rank has all of it.
inline constexpr int64_t kPartial = -2; ///< Every rank has a summand.

struct LayoutChoice {
  /// The sharded dim of each parameter, or kWhole.
  llvm::MapVector<mlir::BlockArgument, int64_t> weights;
  /// Those among them that are contracted or looked up, and are whole.
  llvm::SmallVector<mlir::BlockArgument> undivided;
  /// How values are held that are held otherwise than the op that makes them leaves them, or than an op needs
  /// its part of them.
  llvm::MapVector<mlir::Value, int64_t> held;
  /// How an activation is needed by an op where it is held otherwise.
  std::vector<std::pair<mlir::OpOperand *, int64_t>> needed;
  /// What a rank that has the whole batch sends of activations and their gradients, in bytes, by the unit of the
  /// parameters that they depend on last; null where there are none.
  llvm::MapVector<mlir::StringAttr, int64_t> sent;
  Cost cost;
};

struct LayoutQuestion {
  int64_t ranks;         ///< Along the axis.
  bool sequence = false; ///< The axis may shard the sequence of activations, too.
  CommonDims taken = {}; ///< Dims that other axes shard, which this one leaves alone.
  /// Bytes that the link sends in the least time of a collective.  The default is 20 us at 12.5 GB/s, of no target, so
  /// that a layout is the same on all of them.
  int64_t latencyBytes = 250000;
};

class LayoutSearch {
public:
  LayoutSearch(mlir::func::FuncOp model, LayoutQuestion question);

  /// None where the graph is too entangled for an exact answer.
  std::optional<LayoutChoice> run();
  /// The prices, for tests that compare with every choice there is.
  MinimumCost &problem() { return prices; }

  const TokenDims &tokenDims() const { return tokens; }
  /// Whether a dim is sharded by other axes.
  bool isTaken(mlir::Value value, int64_t dim) const { return question.taken.contains(value, dim); }

private:
  struct Node {
    mlir::Operation *op;
    ShardingRule rule;
    llvm::SmallVector<int64_t> factors; ///< kWhole, then those that the axis may shard.
    unsigned variable;
  };
  /// A value is held in one way, and for those that read it in another one, too, which is sent
  /// once for all of them; its gradient is collected in one way.
  struct Held {
    llvm::SmallVector<int64_t> ways, gradientWays;
    /// A parameter, as it is or moved or rounded; and whether it is contracted or looked up.
    bool isParameter = false, isWeight = false;
    bool hasGradient = false;
    unsigned variable = 0;
    int64_t bytes = 0;
    size_t count() const { return ways.size() * ways.size() * gradientWays.size(); }
    int64_t way(unsigned value) const { return ways[value / gradientWays.size() / ways.size()]; }
    int64_t alsoWay(unsigned value) const { return ways[value / gradientWays.size() % ways.size()]; }
    int64_t gradientWay(unsigned value) const { return gradientWays[value % gradientWays.size()]; }
  };

  void addNode(mlir::Operation *op);
  bool mayShard(const Node &node, unsigned factor) const;
  bool isTaken(const Node &node, unsigned factor) const;
  void addHeld(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  llvm::DenseMap<mlir::Value, std::set<int64_t>> dimsOfNodes() const;
  void price(const Node &node);
  void priceOperand(const Node &node, unsigned operand);
  void priceResult(const Node &node, unsigned result);
  void priceHeld(mlir::Value value);
  /// Of a value that is held in some way where an op computes along a factor, or kWhole.
  Cost operandCost(const Node &node, unsigned operand, const Held &held, unsigned value, int64_t factor) const;
  Cost resultCost(const Node &node, unsigned result, const Held &held, unsigned value, int64_t factor) const;
  Cost decomposedCost(const Node &node, int64_t factor) const;
  mlir::StringAttr unitOf(const Node &node) const;
  void readSent(llvm::ArrayRef<unsigned> values, LayoutChoice &choice) const;
  Cost sent(const Held &held, int64_t from, int64_t to) const;
  Cost moved(const Held &held, int64_t from, int64_t to) const;
  LayoutChoice read(llvm::ArrayRef<unsigned> values) const;

  mlir::func::FuncOp model;
  LayoutQuestion question;
  TokenDims tokens;
  MinimumCost prices;
  std::vector<Node> nodes;
  llvm::MapVector<mlir::Value, Held> values;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_LAYOUTSEARCH_H
