//===- TGFolds.cpp - no-op ops, and folding of constants ------------------===//

#include "dialects/TG/TG.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace braid::tg;

/// Returns a splat constant in another shape.
static OpFoldResult splatOf(Attribute value, RankedTensorType type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(value);
  if (!splat)
    return {};
  return DenseElementsAttr::get(type, splat.getSplatValue<Attribute>());
}

/// Returns a constant with the same elements in the same order, in another shape.
static OpFoldResult reshaped(Attribute value, RankedTensorType type) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(value);
  return elements ? OpFoldResult(elements.reshape(type)) : OpFoldResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(getDims()[dim]);
    setDims(dims);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return splatOf(adaptor.getInput(), getType());
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getDims().empty())
    return getInput();
  if (getKind() != ReduceKind::Sum)
    return splatOf(adaptor.getInput(), getType());
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> permutation;
    for (int64_t dim : getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    setPermutation(permutation);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return splatOf(adaptor.getInput(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return reshaped(adaptor.getInput(), getType());
}

/// Returns the operand of a concat that a slice equals; null if it equals none.
static Value slicedOperand(SliceOp slice) {
  auto concat = slice.getInput().getDefiningOp<ConcatOp>();
  if (!concat || concat.getDim() != slice.getDim() || slice.getStride() != 1)
    return {};
  uint64_t offset = 0;
  for (Value input : concat.getInputs()) {
    if (offset == slice.getOffset() && input.getType() == slice.getType())
      return input;
    offset += cast<RankedTensorType>(input.getType()).getDimSize(slice.getDim());
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (Value operand = slicedOperand(*this))
    return operand;
  return splatOf(adaptor.getInput(), getType());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs()[0]) : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getLow() == 0 && getHigh() == 0 ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getRate().isZero() ? OpFoldResult(getInput()) : OpFoldResult(); }

//===----------------------------------------------------------------------===//
// Conversion of constants
//===----------------------------------------------------------------------===//

/// Converts an integer. Integers are signed, except i1, whose true is 1.
static APFloat floatOf(const APInt &value, const llvm::fltSemantics &semantics) {
  APFloat result(semantics);
  result.convertFromAPInt(value, /*IsSigned=*/value.getBitWidth() > 1, APFloat::rmNearestTiesToEven);
  return result;
}

static Attribute convertElement(Attribute element, Type type) {
  auto toFloat = dyn_cast<FloatType>(type);
  if (auto number = dyn_cast<FloatAttr>(element)) {
    if (!toFloat)
      return {}; // rare, so not folded
    bool losesInfo;
    APFloat value = number.getValue();
    value.convert(toFloat.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(type, value);
  }
  APInt value = cast<IntegerAttr>(element).getValue();
  if (toFloat)
    return FloatAttr::get(type, floatOf(value, toFloat.getFloatSemantics()));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return {};
  return IntegerAttr::get(type, value.getBitWidth() == 1 ? value.zext(width) : value.sextOrTrunc(width));
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput());
  if (!elements)
    return {};
  Type type = getType().getElementType();
  SmallVector<Attribute> converted;
  auto values = elements.getValues<Attribute>();
  size_t count = elements.isSplat() ? 1 : elements.size();
  for (size_t i = 0; i < count; ++i) {
    Attribute value = convertElement(values[i], type);
    if (!value)
      return {};
    converted.push_back(value);
  }
  return DenseElementsAttr::get(getType(), converted);
}
