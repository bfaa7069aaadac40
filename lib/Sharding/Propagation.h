//===- Propagation.h - a sharding for every value ---------------*- C++ -*-===//
//
// Annotations shard the dims of values; a value without one is open. The shardings of
// the tensors of each op (a node) are projected onto the factors of its rule. Conflicts
// are resolved, and the axes of the factors then extend the open dims of all of its
// tensors. This is repeated to a fixpoint for each priority of annotations, the
// strongest first, so a weaker annotation gets only the axes that are left.
//
// A list of axes grows at its end, and an axis appears once in a value. So each value
// changes at most as often as the mesh has axes, and each change visits the ops that
// use it: the time is linear in the uses of values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_PROPAGATION_H
#define BRAID_LIB_SHARDING_PROPAGATION_H

#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/Projection.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

namespace braid {

/// A requested sharding, and its origin.
struct Annotation {
  std::string name;
  mlir::Location loc;
  comm::ShardingAttr sharding;
  /// Whether it yields to annotations of its priority instead of conflicting with them:
  /// the request of a `comm.constrain` to its operand, and annotations of gradients.
  bool yields = false;
  /// Whether it shards the batch. All inputs of the batch have the same sharding, which is no contradiction:
  /// an op that compares the examples of two inputs (`"bo,co->bc"`) has one of them gathered.
  bool isOfBatch = false;
};

struct PropagationProblem {
  struct Tensor {
    TensorProjection projection;
    /// Priority from which each dim may be extended; the last entry is for the flat order.
    llvm::SmallVector<int64_t, 4> openFrom;
    /// Sharding by its annotation; null without one.
    comm::ShardingAttr exact;
    /// Whether it is the result of an op without operands, which follows its users.
    bool follows = false;
    llvm::SmallVector<unsigned, 4> nodes;
  };
  struct Node {
    mlir::Operation *op; ///< Null for the pair of an updated argument and its new value.
    ShardingRule rule;
    llvm::SmallVector<unsigned, 4> tensors;
    bool decomposable = false;
    /// Whether its tensors may have different shardings.
    bool loose = false;
    /// Number of the first tensor that may be extended; tensors before it are only read.
    unsigned firstExtended = 0;
  };
  /// Sharding of a tensor by an annotation; takes effect when propagation reaches its priority.
  struct Seed {
    unsigned tensor, annotation;
    /// Whether it only extends the tensor's open dims.
    bool suggested = false;
  };

  static constexpr int64_t kOpen = -1, kNever = std::numeric_limits<int64_t>::max();

  PropagationProblem(mlir::func::FuncOp function, mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh)
      : function(function), symbol(symbol), mesh(mesh) {}

  mlir::func::FuncOp function;
  mlir::FlatSymbolRefAttr symbol;
  comm::Mesh mesh;
  llvm::SmallVector<Annotation> annotations;
  llvm::SmallVector<Seed> seeds;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  /// Argument that each result updates in place.
  llvm::SmallVector<mlir::BlockArgument> updated;

  /// Returns the priority of an annotation. Smaller is stronger; annotations that can conflict have equal ones.
  int64_t priorityOf(unsigned annotation) const;
  bool areOfBatch(unsigned annotation, unsigned other) const;
  Resolution resolveConflicts(const Node &node) const;
  /// Returns the sharding found for a value, without partial values that its annotation does not name.
  comm::ShardingAttr shardingOf(mlir::Value value) const;
  /// Returns the annotated sharding of result `index` of the function, else the
  /// sharding of its argument or value.
  comm::ShardingAttr shardingOfResult(unsigned index) const;
};

/// Reads the annotations and ops of a global function.
mlir::FailureOr<PropagationProblem> readPropagation(mlir::func::FuncOp function, mlir::FlatSymbolRefAttr symbol,
                                                    const comm::Mesh &mesh);
void propagate(PropagationProblem &problem);
/// Reports the first op whose annotations conflict.
mlir::LogicalResult checkConflicts(const PropagationProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SHARDING_PROPAGATION_H
