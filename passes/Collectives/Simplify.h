//===- Simplify.h - what the rules of comm-simplify share -------*- C++ -*-===//
//
// A rule is a named pattern on ops that `Ranks` lets it touch: collectives on
// values whose whole group runs this function, outside of start and wait.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_SIMPLIFY_H
#define BRAID_PASSES_COLLECTIVES_SIMPLIFY_H

#include "dialects/Comm/Sharding.h"
#include "lib/Sharding/Replication.h"
#include "mlir/IR/PatternMatch.h"

namespace braid {

/// The ranks that run a function, and what is known of their values.
struct Ranks {
  comm::ProgramAttr program;
  comm::Mesh mesh;
  Replication replication;

  int64_t count(comm::AxesAttr axes) const { return mesh.sizeOf(axes); }
  /// Whether an op of the comm dialect may be rewritten here without looking at
  /// other functions.
  bool mayRewrite(mlir::Operation *op) const;
  /// The op that makes `value`, if it is an `OpTy` that may be rewritten.
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
  /// Whether the rule held, and was applied.
  virtual bool apply(OpTy op, mlir::PatternRewriter &rewriter) const = 0;

  const Ranks &ranks;
};

/// What each result of a collective in a group of one rank is; none for
/// collectives whose results are not what was sent.
std::optional<llvm::SmallVector<mlir::Value>> resultsOfOneRank(comm::CollectiveOpInterface op,
                                                               mlir::OpBuilder &builder);

/// Rules for groups of one rank and for values that are the same on all ranks.
void populateSimplifyGroups(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules for parts of what a collective has made.
void populateSimplifySlices(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules that make one collective of two.
void populateSimplifyMerges(mlir::RewritePatternSet &patterns, const Ranks &ranks);
/// Rules that gather the narrower of two types.
void populateSimplifyConverts(mlir::RewritePatternSet &patterns, const Ranks &ranks);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_SIMPLIFY_H
