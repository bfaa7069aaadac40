//===- Simplify.h - shared parts of comm-simplify's rules -------*- C++ -*-===//
//
// A rule is a pattern on ops that `Ranks` allows to be rewritten: collectives on values, outside of start and
// wait, whose whole group runs this function.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_SIMPLIFY_H
#define BRAID_PASSES_COLLECTIVES_SIMPLIFY_H

#include "dialects/Comm/Sharding.h"
#include "lib/Sharding/Replication.h"
#include "mlir/IR/PatternMatch.h"

namespace braid {

/// The ranks that run a function, and which of their values are replicated.
struct Ranks {
  comm::ProgramAttr program;
  comm::Mesh mesh;
  Replication replication;

  int64_t count(comm::AxesAttr axes) const { return mesh.sizeOf(axes); }
  /// Whether an op of the comm dialect may be rewritten without changes to other functions.
  bool mayRewrite(mlir::Operation *op) const;
  /// Returns the op that defines `value`, if it is an `OpTy` that may be rewritten.
  template <typename OpTy> OpTy definition(mlir::Value value) const {
    auto op = value.getDefiningOp<OpTy>();
    return op && mayRewrite(op) ? op : OpTy();
  }
};

/// A rule for one kind of op.
template <typename OpTy> class RankPattern : public mlir::OpRewritePattern<OpTy> {
public:
  RankPattern(mlir::MLIRContext *context, const Ranks &ranks) : mlir::OpRewritePattern<OpTy>(context), ranks(ranks) {}

  mlir::LogicalResult matchAndRewrite(OpTy op, mlir::PatternRewriter &rewriter) const final {
    return mlir::success(ranks.mayRewrite(op) && apply(op, rewriter));
  }

protected:
  /// Applies the rule if it matches. Returns whether it was applied.
  virtual bool apply(OpTy op, mlir::PatternRewriter &rewriter) const = 0;

  const Ranks &ranks;
};

/// Returns the value of each result of a collective in a group of one rank. Returns nothing for collectives
/// whose results are not the sent values.
std::optional<llvm::SmallVector<mlir::Value>> resultsOfOneRank(comm::CollectiveOpInterface op,
                                                               mlir::OpBuilder &builder);

/// Rules for groups of one rank and for values that are the same on all ranks.
void populateSimplifyGroups(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules for slices of the results of collectives.
void populateSimplifySlices(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules that merge two collectives into one.
void populateSimplifyMerges(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules that move a gather to the narrower side of a conversion.
void populateSimplifyConverts(mlir::RewritePatternSet &patterns, const Ranks &ranks);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_SIMPLIFY_H
