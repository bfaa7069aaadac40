//===- Propagation.h - a sharding for every value ---------------*- C++ -*-===//
//
// Annotations shard the dims of values; a value without one is open.  The shardings of
// the tensors of each op (a node) are projected onto the factors of its rule; after
// conflicts are resolved, the axes of the factors extend the open dims of all of its
// tensors.  That is repeated to a fixpoint for each priority of annotations, the
// strongest first, so a weaker annotation gets only what is left.
//
// A list of axes grows at its end and an axis appears once in a value, so each
// value changes at most as often as the mesh has axes, and each change visits the
// ops that use it: the time is linear in the uses of values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_PROPAGATION_H
#define BRAID_LIB_SHARDING_PROPAGATION_H

#include "lib/Sharding/GlobalFunction.h"
#include "lib/Sharding/Projection.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

namespace braid {

/// A request for a sharding, and where it comes from.
struct Annotation {
  std::string name;
  mlir::Location loc;
  comm::ShardingAttr sharding;
  /// It yields to the annotations of its priority instead of conflicting with them:
  /// what a `comm.constrain` asks of its operand, and what is said of gradients.
  bool yields = false;
  /// It says which examples of the batch a rank has.  All inputs of the batch say the same,
  /// so they do not contradict one another: an op that compares the examples of one input
  /// with those of another (`"bo,co->bc"`) has one of the two gathered.
  bool isOfBatch = false;
};

struct PropagationProblem {
  struct Tensor {
    TensorProjection projection;
    /// The priority from which on each dim, and the flat order behind them, may be
    /// extended.
    llvm::SmallVector<int64_t, 4> openFrom;
    /// Its annotation, if it has one.
    comm::ShardingAttr exact;
    /// The result of an op without operands: it follows its users.
    bool follows = false;
    llvm::SmallVector<unsigned, 4> nodes;
  };
  struct Node {
    mlir::Operation *op; ///< Null for an argument that is updated and its new value.
    ShardingRule rule;
    llvm::SmallVector<unsigned, 4> tensors;
    bool decomposable = false;
    /// Its tensors may disagree.
    bool loose = false;
    /// Tensors before this one are read only.
    unsigned firstExtended = 0;
  };
  /// The sharding of a tensor by an annotation, applied when the turn of its priority comes.
  struct Seed {
    unsigned tensor, annotation;
    /// It extends what the tensor has, where that is open.
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
  /// The argument that each result updates in place.
  llvm::SmallVector<mlir::BlockArgument> updated;

  /// Smaller is stronger; equal for annotations that can conflict.
  int64_t priorityOf(unsigned annotation) const;
  bool areOfBatch(unsigned annotation, unsigned other) const;
  Resolution resolveConflicts(const Node &node) const;
  /// The sharding found for a value, without partial values that its annotation
  /// does not name.
  comm::ShardingAttr shardingOf(mlir::Value value) const;
  /// What result `index` of the function is annotated with, else what its argument
  /// or value has.
  comm::ShardingAttr shardingOfResult(unsigned index) const;
};

/// Reads the annotations and ops of a global function.
mlir::FailureOr<PropagationProblem> readPropagation(mlir::func::FuncOp function, mlir::FlatSymbolRefAttr symbol,
                                                    const comm::Mesh &mesh);
void propagate(PropagationProblem &problem);
/// Reports the first op where annotations disagree.
mlir::LogicalResult checkConflicts(const PropagationProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SHARDING_PROPAGATION_H
