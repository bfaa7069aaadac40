//===- TGBuilder.cpp - tensor arithmetic, short to write ------------------===//

#include "dialects/TG/TGBuilder.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ValueNames.h"

using namespace mlir;
using namespace braid::tg;

SmallVector<int64_t> braid::tg::dimRange(int64_t first, int64_t end) {
  return llvm::to_vector(llvm::seq<int64_t>(first, end));
}

SmallVector<int64_t> braid::tg::otherDims(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

Location braid::tg::originOf(Operation *op, StringRef definition) {
  StringRef name = op->getName().getStringRef();
  return withName(withoutValueName(withoutTensor(op->getLoc())),
                  StringAttr::get(op->getContext(), definition.empty() ? Twine(name) : name + " " + definition));
}

Value TensorBuilder::constant(RankedTensorType type, double value) {
  Type element = type.getElementType();
  TypedAttr scalar;
  if (isa<FloatType>(element))
    scalar = builder.getFloatAttr(element, value);
  else
    scalar = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  return make<arith::ConstantOp>(DenseElementsAttr::get(type, Attribute(scalar)));
}

Value TensorBuilder::iota(Value shape, int64_t dim, Type element) {
  return make<IotaOp>(withElement(typeOf(shape), element), dim);
}

Value TensorBuilder::convert(Value a, Type element) {
  if (typeOf(a).getElementType() == element)
    return a;
  return make<ConvertOp>(withElement(typeOf(a), element), a);
}

Value TensorBuilder::widen(Value a) {
  return typeOf(a).getElementType().isBF16() ? convert(a, builder.getF32Type()) : a;
}

Value TensorBuilder::reduce(ReduceKind kind, Value a, ArrayRef<int64_t> dims) {
  return dims.empty() ? a : make<ReduceOp>(kind, a, dims);
}

Value TensorBuilder::broadcast(Value a, RankedTensorType type, ArrayRef<int64_t> dims) {
  return a.getType() == type ? a : make<BroadcastOp>(type, a, dims);
}

Value TensorBuilder::broadcastRows(Value a, Value shape) {
  RankedTensorType type = withElement(typeOf(shape), typeOf(a).getElementType());
  return broadcast(a, type, dimRange(0, type.getRank() - 1));
}

Value TensorBuilder::broadcastLanes(Value a, Value shape) {
  RankedTensorType type = withElement(typeOf(shape), typeOf(a).getElementType());
  return broadcast(a, type, {type.getRank() - 1});
}

Value TensorBuilder::reshape(Value a, ArrayRef<int64_t> shape) {
  RankedTensorType type = withShape(typeOf(a), shape);
  return a.getType() == type ? a : make<ReshapeOp>(type, a);
}

Value TensorBuilder::at(Value a, int64_t dim, Value index) {
  SmallVector<int64_t> shape(typeOf(a).getShape()), order{dim};
  llvm::append_range(order, otherDims({dim}, shape.size()));
  int64_t size = std::exchange(shape[dim], 1);
  bool isFirst = llvm::all_of(llvm::seq<int64_t>(0, dim), [&](int64_t before) { return shape[before] == 1; });
  Value table = reshape(isFirst ? a : transpose(a, order), {size, typeOf(a).getNumElements() / size});
  return reshape(make<GatherOp>(table, reshape(index, {1})), shape);
}

Value TensorBuilder::slice(Value a, int64_t dim, int64_t offset, int64_t size) {
  if (offset == 0 && size == typeOf(a).getDimSize(dim))
    return a;
  return make<SliceOp>(a, dim, offset, size, /*stride=*/1);
}

Value TensorBuilder::padZeros(Value a, int64_t dim, int64_t low, int64_t high) {
  if (low == 0 && high == 0)
    return a;
  return make<PadOp>(a, dim, low, high, llvm::APFloat(0.0));
}

Value TensorBuilder::contractWide(const llvm::Twine &spec, Value a, Value b) {
  Value result = contract(spec, a, b);
  if (typeOf(result).getElementType().isBF16())
    result.setType(withElement(typeOf(result), builder.getF32Type()));
  return result;
}
