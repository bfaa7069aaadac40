//===- Copies.cpp - kernels that copy or fill -----------------------------===//

#include "lib/Memory/Copies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;

/// Builds a kernel of one generic over all elements; `scalar` makes an element from those of the operands.
static Value buildElementwise(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                              RankedTensorType type, function_ref<Value(OpBuilder &, ValueRange)> scalar) {
  OpBuilder::InsertionGuard guard(builder);
  // A scalar is a space of one lane, over which the generic has no loop.
  SmallVector<int64_t> space(type.getShape());
  if (space.empty())
    space.push_back(1);
  auto kernel = builder.create<exec::KernelOp>(loc, TypeRange{type}, name, operands, ValueRange(), space);
  Block *body =
      builder.createBlock(&kernel.getBody(), {}, operands.getTypes(), SmallVector<Location>(operands.size(), loc));
  Value init = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(operands.size() + 1, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(loc, TypeRange{type}, body->getArguments(), init, maps, iterators,
                                                   [&](OpBuilder &inner, Location innerLoc, ValueRange elements) {
                                                     inner.create<linalg::YieldOp>(innerLoc, scalar(inner, elements));
                                                   });
  generic->setAttr(exec::ExecDialect::kDims,
                   builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
  builder.create<exec::YieldOp>(loc, generic.getResults());
  return kernel.getResult(0);
}

Value braid::buildCopy(OpBuilder &builder, Location loc, Value source) {
  return buildElementwise(builder, loc, "copy", source, cast<RankedTensorType>(source.getType()),
                          [](OpBuilder &, ValueRange elements) { return elements[0]; });
}

Value braid::buildFill(OpBuilder &builder, Location loc, RankedTensorType type, TypedAttr element) {
  return buildElementwise(builder, loc, "fill", {}, type, [&](OpBuilder &inner, ValueRange) -> Value {
    return inner.create<arith::ConstantOp>(loc, element);
  });
}
