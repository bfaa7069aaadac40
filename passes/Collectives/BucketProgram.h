//===- BucketProgram.h - a program as a bucketing problem -------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H
#define BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H

#include "dialects/Comm/Mesh.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Buckets.h"
#include "passes/Collectives/Passes.h"

namespace braid {

/// The value of `bucket-mb` or `first-bucket-mb`.
struct BucketSize {
  /// True when the size follows from the link rates; `bytes` is then unused.
  bool isAuto = false;
  int64_t bytes = 0;

  /// Parses a number of MiB, 0 for one tensor per bucket, `inf` or, if allowed, `auto`.
  static llvm::Expected<BucketSize> parse(llvm::StringRef option, llvm::StringRef text, bool mayBeAuto);
};

struct BucketSettings {
  BucketSize first, size;
  BucketPerUnit perUnit = BucketPerUnit::Auto;
};

/// The bucketing problem of a program, and the op of each of its actions.
struct BucketProgram {
  BucketProblem problem;
  llvm::SmallVector<mlir::Operation *> actions;
  /// Owners (parameters or state) of the first and of the last tensor of each item; null for scalars.
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::BlockArgument>> arguments;

  comm::CollectiveOpInterface collective(unsigned item) const {
    return mlir::cast<comm::CollectiveOpInterface>(actions[problem.items[item].action]);
  }
};

/// Reads the program of a rank, which is one block of actions.
BucketProgram readBucketProgram(mlir::func::FuncOp function, const comm::Mesh &mesh, const Machine &machine,
                                const BucketSettings &settings);

/// Returns the attributes that the members of a bucket share: all except those with one entry per tensor.
mlir::NamedAttrList sharedAttributes(comm::CollectiveOpInterface op);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_BUCKETPROGRAM_H
