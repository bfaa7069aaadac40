//===- Views.cpp - composition, folding and verification of views ---------===//

#include "dialects/Exec/Views.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

SmallVector<int64_t> exec::rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

namespace {
/// One dim of the inner view: `size` steps of `stride` elements in its source. A step
/// is `unit` elements in the inner view's own row-major order.
struct InnerDim {
  int64_t size, stride, unit;
};
} // namespace

/// Returns the dims of the inner view, major to minor, without unit dims; adjacent dims
/// with a common stride are merged.
static SmallVector<InnerDim> collapse(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<InnerDim> dims;
  SmallVector<int64_t> units = rowMajor(shape);
  for (auto [size, stride, unit] : llvm::zip(shape, strides, units)) {
    if (size == 1)
      continue;
    if (!dims.empty() && dims.back().stride == stride * size)
      dims.back() = {dims.back().size * size, stride, unit};
    else
      dims.push_back({size, stride, unit});
  }
  return dims;
}

std::optional<ViewCoordinates> exec::composeViews(ArrayRef<int64_t> innerShape, const ViewCoordinates &inner,
                                                  ArrayRef<int64_t> outerShape, const ViewCoordinates &outer) {
  SmallVector<InnerDim> dims = collapse(innerShape, inner.strides);
  ViewCoordinates result{inner.offset, {}};
  // Furthest coordinate reached in each dim. Beyond the dim's size a step would carry
  // into the next dim, and would not be a constant number of elements.
  SmallVector<int64_t> reached;
  int64_t rest = outer.offset;
  for (InnerDim dim : dims) {
    reached.push_back(rest / dim.unit);
    result.offset += reached.back() * dim.stride;
    rest %= dim.unit;
  }
  for (auto [size, stride] : llvm::zip(outerShape, outer.strides)) {
    int64_t step = 0;
    rest = size == 1 ? 0 : stride;
    for (auto [index, dim] : llvm::enumerate(dims)) {
      int64_t digit = rest / dim.unit;
      rest %= dim.unit;
      step += digit * dim.stride;
      reached[index] += digit * (size - 1);
    }
    result.strides.push_back(step);
  }
  for (auto [dim, furthest] : llvm::zip(dims, reached))
    if (furthest >= dim.size)
      return std::nullopt;
  return result;
}

RefType exec::layoutOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto view = value.getDefiningOp<ViewOp>())
    return RefType::strided(type, view.getStrides());
  return RefType::contiguous(type);
}

bool exec::isReshape(ViewOp view) {
  return view.getOffset() == 0 && view.getSource().getType().getNumElements() == view.getType().getNumElements() &&
         layoutOf(view.getResult()).isContiguous();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType() && isReshape(*this))
    return getSource();
  auto inner = getSource().getDefiningOp<ViewOp>();
  if (!inner)
    return {};
  ViewCoordinates innerAt{static_cast<int64_t>(inner.getOffset()), SmallVector<int64_t>(inner.getStrides())};
  ViewCoordinates outerAt{static_cast<int64_t>(getOffset()), SmallVector<int64_t>(getStrides())};
  auto composed = composeViews(inner.getType().getShape(), innerAt, getType().getShape(), outerAt);
  if (!composed)
    return {};
  setOperand(inner.getSource());
  setOffset(composed->offset);
  setStrides(composed->strides);
  return getResult();
}

LogicalResult ViewOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getElementType() != result.getElementType())
    return emitOpError() << "changes the element type from " << source << " to " << result;
  if (static_cast<int64_t>(getStrides().size()) != result.getRank())
    return emitOpError() << "has " << getStrides().size() << " strides but its result is " << result;
  int64_t last = getOffset();
  for (auto [size, stride] : llvm::zip(result.getShape(), getStrides())) {
    if (stride < 0)
      return emitOpError() << "has the negative stride " << stride;
    last += (size - 1) * stride;
  }
  int64_t elements = source.getNumElements();
  if (static_cast<int64_t>(getOffset()) < 0 || last >= elements)
    return emitOpError() << "reads elements " << getOffset() << " to " << last << " but its source " << source
                         << " has " << elements;
  return success();
}
