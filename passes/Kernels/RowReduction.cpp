//===- RowReduction.cpp - reductions as kernels ---------------------------===//
//
// Reduces dims in stages, lanes first:
//
//   lanes   rows stay parallel; each row becomes one value
//   rows    kept rows come first in the space; when these are few, the reduced rows are split into
//           blocks, each block leaves a partial result, and a second kernel combines the partial
//           results in order; those of a long sum are first combined in groups
//
// The number of blocks depends only on the shape, so a sum has the same bits for any number of threads.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernels/RowReduction.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Kernels/KernelNames.h"
#include "passes/Select/InlineValues.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace braid;
using Dims = SmallVector<int64_t>;

/// Least number of reduced rows that is worth a second kernel.
static constexpr int64_t kMinSplitRows = 32;
/// Sums of more terms than `kLongSum` first combine their partial results in `kPartialGroups` groups per result.
static constexpr int64_t kLongSum = 1 << 16, kPartialGroups = 16;
/// Longer vectors are reduced as rows of lanes.
static constexpr int64_t kMaxLanes = 1 << 16;

Value braid::reducedTensor(tg::ReduceOp reduce) {
  Value input = reduce.getInput(), narrow = wideningSource(input);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  // Dims of size 1 need no kernel, and only a kernel can widen.
  bool isKernel = llvm::any_of(reduce.getDims(), [&](int64_t dim) { return shape[dim] != 1; });
  return narrow && isKernel && !isInlined(narrow) && reduce.getType().getElementType().isF32() ? narrow : input;
}

namespace {
/// Builds one reduction, stage by stage.
class Reduction {
public:
  Reduction(OpBuilder &builder, tg::ReduceOp op, int64_t blocks)
      : builder(builder), op(op), loc(op.getLoc()), name(kernelNameOf(op)), blocks(blocks), value(reducedTensor(op)) {
    element = cast<RankedTensorType>(value.getType()).getElementType();
    // bf16 is a storage type; sums are computed in f32.
    if (element.isBF16())
      element = builder.getF32Type();
    for (int64_t dim : op.getDims())
      count *= op.getInput().getType().getDimSize(dim);
  }

  Value run();

private:
  ArrayRef<int64_t> shape() const { return cast<RankedTensorType>(value.getType()).getShape(); }
  void reshape(ArrayRef<int64_t> shape);
  SmallVector<int64_t> dropUnitDims();
  Location stage(bool isLast);
  void reduceLanes(bool isLast);
  void reduceRows(ArrayRef<int64_t> rows, bool isLast);
  void reduceRowsOnce(ArrayRef<int64_t> rows, bool isLast);
  TypedAttr identity();
  Value combine(OpBuilder &body, Value x, Value sum);
  Value widen(OpBuilder &body, Value x);
  Value scale(OpBuilder &body, Value x);
  bool isMean() { return op.getKind() == tg::ReduceKind::Mean; }

  OpBuilder &builder;
  tg::ReduceOp op;
  Location loc;
  std::string name;
  int64_t blocks, count = 1;
  Value value;
  Type element;
};
} // namespace

/// Returns the identity of the reduction.
TypedAttr Reduction::identity() {
  if (op.getKind() != tg::ReduceKind::Max)
    return builder.getZeroAttr(element);
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  return IntegerAttr::get(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
}

Value Reduction::combine(OpBuilder &body, Value x, Value sum) {
  bool isFloat = isa<FloatType>(element);
  if (op.getKind() == tg::ReduceKind::Max)
    return isFloat ? body.create<arith::MaximumFOp>(loc, x, sum).getResult()
                   : body.create<arith::MaxSIOp>(loc, x, sum).getResult();
  return isFloat ? body.create<arith::AddFOp>(loc, x, sum).getResult()
                 : body.create<arith::AddIOp>(loc, x, sum).getResult();
}

Value Reduction::widen(OpBuilder &body, Value x) {
  return x.getType() == element ? x : body.create<arith::ExtFOp>(loc, element, x).getResult();
}

Value Reduction::scale(OpBuilder &body, Value x) {
  Value factor = body.create<arith::ConstantOp>(loc, body.getFloatAttr(element, 1.0 / count));
  return body.create<arith::MulFOp>(loc, x, factor);
}

void Reduction::reshape(ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  value = builder.createOrFold<exec::ViewOp>(loc, RankedTensorType::get(shape, type.getElementType()), value, 0,
                                             exec::rowMajor(shape));
}

/// Partial results do not have the name and facts of the op's result.
Location Reduction::stage(bool isLast) {
  if (isLast)
    return op.getLoc();
  StringRef whole = tg::valueNameOf(op.getLoc());
  return tg::withValueName(tg::withoutTensor(op.getLoc()), whole.empty() ? "" : ("partial_" + whole).str());
}

void Reduction::reduceLanes(bool isLast) {
  loc = stage(isLast);
  Dims space(shape()), dims = llvm::to_vector(llvm::seq<int64_t>(0, space.size()));
  ArrayRef<int64_t> rows = ArrayRef(dims).drop_back();
  KernelBuilder kernel(builder, loc, name, space);
  Value result =
      kernel.reduction(dims, rows, {{kernel.operand(value), dims}}, identity(),
                       [&](OpBuilder &body, ValueRange s) { return combine(body, widen(body, s[0]), s[1]); });
  Type stored = cast<RankedTensorType>(op.getType()).getElementType();
  if (isLast && (isMean() || stored != element)) {
    // The sum is not yet the op's result, so it does not have its name.
    result.getDefiningOp()->setLoc(tg::withoutValueName(loc));
    result = kernel.parallel(rows, {{result, Dims(rows)}}, stored, [&](OpBuilder &body, ValueRange s) -> Value {
      Value mean = isMean() ? scale(body, s[0]) : s[0];
      return stored == element ? mean : body.create<arith::TruncFOp>(loc, stored, mean).getResult();
    });
  }
  value = kernel.finish(result).getResult(0);
}

/// Reduces these rows in one kernel; the kept rows are its blocks.
void Reduction::reduceRowsOnce(ArrayRef<int64_t> rows, bool isLast) {
  loc = stage(isLast);
  // Order of the space: kept rows, reduced rows, lanes.
  int64_t rank = shape().size();
  Dims order, position(rank), space;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (!llvm::is_contained(rows, dim))
      order.push_back(dim);
  int64_t numKept = order.size();
  order.append(rows.begin(), rows.end());
  order.push_back(rank - 1);
  for (auto [index, dim] : llvm::enumerate(order)) {
    position[dim] = index;
    space.push_back(shape()[dim]);
  }
  Dims dims = llvm::to_vector(llvm::seq<int64_t>(0, rank)), kept = llvm::to_vector(llvm::seq<int64_t>(0, numKept));
  kept.push_back(rank - 1);
  KernelBuilder kernel(builder, loc, name, space);
  // A kernel cannot read its own sum over rows, so a mean scales the terms.
  Value result =
      kernel.reduction(dims, kept, {{kernel.operand(value), position}}, identity(), [&](OpBuilder &body, ValueRange s) {
        Value x = widen(body, s[0]);
        return combine(body, isLast && isMean() ? scale(body, x) : x, s[1]);
      });
  value = kernel.finish(result).getResult(0);
  Type stored = cast<RankedTensorType>(op.getType()).getElementType();
  if (!isLast || stored == element)
    return;
  KernelBuilder narrow(builder, loc, name, shape());
  Dims all = llvm::to_vector(llvm::seq<int64_t>(0, shape().size()));
  result = narrow.parallel(all, {{narrow.operand(value), all}}, stored, [&](OpBuilder &body, ValueRange s) {
    return body.create<arith::TruncFOp>(loc, stored, s[0]);
  });
  value = narrow.finish(result).getResult(0);
}

/// Returns the largest divisor of `size` that is at most `limit`.
static int64_t divisorUpTo(int64_t size, int64_t limit) {
  for (int64_t divisor = std::min(size, limit); divisor > 1; --divisor)
    if (size % divisor == 0)
      return divisor;
  return 1;
}

void Reduction::reduceRows(ArrayRef<int64_t> rows, bool isLast) {
  int64_t kept = 1, reduced = 1;
  for (int64_t dim = 0, end = shape().size() - 1; dim < end; ++dim)
    (llvm::is_contained(rows, dim) ? reduced : kept) *= shape()[dim];
  if (kept >= blocks || reduced < kMinSplitRows)
    return reduceRowsOnce(rows, isLast);
  // Whole leading rows become blocks while these are few, then a divisor of the next dim.
  Dims splitShape, inner;
  SmallVector<bool> isPartial;
  int64_t wanted = blocks / kept;
  for (int64_t dim = 0, end = shape().size(); dim < end; ++dim) {
    int64_t size = shape()[dim], part = llvm::is_contained(rows, dim) ? divisorUpTo(size, wanted) : size;
    bool isReduced = llvm::is_contained(rows, dim);
    if (part > 1 || !isReduced) {
      splitShape.push_back(part);
      isPartial.push_back(isReduced);
    }
    if (!isReduced)
      continue;
    wanted = part == size ? wanted / part : 1;
    if (part < size) {
      inner.push_back(splitShape.size());
      splitShape.push_back(size / part);
      isPartial.push_back(false);
    }
  }
  if (!llvm::is_contained(isPartial, true) || inner.empty())
    return reduceRowsOnce(rows, isLast);
  reshape(splitShape);
  reduceRowsOnce(inner, /*isLast=*/false);
  // The first stage kept its rows in their original order.
  Dims partials;
  int64_t position = 0;
  for (auto [dim, partial] : llvm::enumerate(isPartial)) {
    if (llvm::is_contained(inner, static_cast<int64_t>(dim)))
      continue;
    if (partial)
      partials.push_back(position);
    ++position;
  }
  // Partial results of a long sum are combined as a tree, to limit rounding errors.
  if (count <= kLongSum)
    return reduceRowsOnce(partials, isLast);
  blocks = kept * kPartialGroups;
  reduceRows(partials, isLast);
}

/// Drops reduced dims of size 1, which need no combination.
Dims Reduction::dropUnitDims() {
  Dims dims, kept;
  for (auto [dim, size] : llvm::enumerate(shape())) {
    bool isReduced = llvm::is_contained(op.getDims(), static_cast<int64_t>(dim));
    if (isReduced && size == 1)
      continue;
    if (isReduced)
      dims.push_back(kept.size());
    kept.push_back(size);
  }
  if (kept.size() != shape().size())
    reshape(kept);
  return dims;
}

Value Reduction::run() {
  Dims dims = dropUnitDims();
  if (shape().size() == 1 && dims.size() == 1 && shape()[0] > kMaxLanes)
    if (int64_t lanes = divisorUpTo(shape()[0], 1024); lanes > 1) {
      reshape({shape()[0] / lanes, lanes});
      dims = {0, 1};
    }
  while (!dims.empty()) {
    if (dims.back() != static_cast<int64_t>(shape().size()) - 1) {
      reduceRows(dims, /*isLast=*/true);
      break;
    }
    dims.pop_back();
    reduceLanes(/*isLast=*/dims.empty());
  }
  return value;
}

Value braid::formReduction(OpBuilder &builder, tg::ReduceOp reduce, int64_t blocks) {
  return Reduction(builder, reduce, blocks).run();
}
