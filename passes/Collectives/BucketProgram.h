//===- BucketProgram.h - a program as a question of buckets -----*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H
#define BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H

#include "dialects/Comm/Mesh.h"
#include "lib/Schedule/Buckets.h"
#include "passes/Collectives/BucketOptions.h"
#include "passes/Collectives/CollectiveRoles.h"

namespace braid {

struct BucketSettings {
  BucketSize first, size;
  /// Where a bucket ends with the unit.
  enum class PerUnit { Auto, Never, Always } perUnit = PerUnit::Auto;
};

/// What findBuckets is asked, and the ops that it means.
struct BucketProgram {
  BucketProblem problem;
  llvm::SmallVector<mlir::Operation *> actions;
  /// For each item the parameters or state that its first and its last tensor belong
  /// to; null for numbers.
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::BlockArgument>> arguments;

  comm::CollectiveOpInterface collective(unsigned item) const {
    return mlir::cast<comm::CollectiveOpInterface>(actions[problem.items[item].action]);
  }
};

/// Reads the program of a rank: one block of actions.
BucketProgram readBucketProgram(mlir::func::FuncOp function, const comm::Mesh &mesh, const Machine &machine,
                                const BucketSettings &settings);

/// The attributes that the members of a bucket share: all but those with an entry for
/// each tensor.
mlir::NamedAttrList sharedAttributes(comm::CollectiveOpInterface op);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H
