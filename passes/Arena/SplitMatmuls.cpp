//===- SplitMatmuls.cpp - split off the last rows or columns --------------===//
//
// Runs in memory form, where sizes are final and no later pass changes a layout.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/MatmulMarks.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_SPLITMATMULSPASS
#include "passes/Arena/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
struct SplitMatmuls final : braid::impl::SplitMatmulsPassBase<SplitMatmuls> {
  using SplitMatmulsPassBase::SplitMatmulsPassBase;

  /// Returns the elements by which a contiguous size of a matrix exceeds a multiple of the target's bytes.
  int64_t excess(Value matrix, int64_t size, int64_t stride, int64_t multiple) {
    if (stride != 1)
      return 0;
    return size % std::max<int64_t>(1, multiple / elementBytes(cast<exec::RefType>(matrix.getType()).getElementType()));
  }

  void split(exec::MatmulOp matmul, int64_t multiple) {
    FailureOr<MatmulShape> shape = matmulShape(matmul);
    if (failed(shape) || !matmul.isPlain() || !shape->batch.empty() || !shape->outer.empty() ||
        shape->m * shape->n < minWork / shape->k)
      return;
    Value lhs = shape->swapped ? matmul.getRhs() : matmul.getLhs();
    Value rhs = shape->swapped ? matmul.getLhs() : matmul.getRhs(), out = matmul.getOuts().front();
    int64_t rows = excess(lhs, shape->m, shape->lhsM, multiple);
    int64_t columns =
        std::max(excess(rhs, shape->n, shape->rhsN, multiple), excess(out, shape->n, shape->outN, multiple));
    Builder builder(matmul);
    if (rows && shape->m >= kMinSize)
      matmul->setAttr(exec::kRowsApart, builder.getI64IntegerAttr(rows));
    else if (columns && shape->n >= kMinSize)
      matmul->setAttr(exec::kColumnsApart, builder.getI64IntegerAttr(columns));
  }

  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    if (target->matmulMultiple)
      getOperation().walk([&](exec::MatmulOp matmul) { split(matmul, target->matmulMultiple); });
  }

private:
  /// Least number of rows or columns for which the excess is a small part.
  static constexpr int64_t kMinSize = 1024;
};
} // namespace
