//===- KernelBuilder.cpp - writes exec.kernel bodies ----------------------===//

#include "passes/Select/KernelBuilder.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;

KernelBuilder::KernelBuilder(OpBuilder &outer, Location loc, StringRef name, ArrayRef<int64_t> space)
    : outer(outer), loc(loc), name(name), space(space), inner(outer.getContext()) {
  inner.setInsertionPointToEnd(&region.emplaceBlock());
}

Value KernelBuilder::operand(Value value, StringRef name) {
  Value &argument = operands[value];
  if (!argument)
    argument = region.front().addArgument(
        value.getType(), tg::withValueName(value.getLoc(), name.empty() ? tg::nameOfOperand(value) : name.str()));
  return argument;
}

Value KernelBuilder::generic(ArrayRef<int64_t> dims, ArrayRef<int64_t> kept, ArrayRef<Read> reads, Value init,
                             Body body) {
  auto mapOf = [&](ArrayRef<int64_t> indices) {
    SmallVector<AffineExpr> results;
    for (int64_t dim : indices)
      results.push_back(inner.getAffineDimExpr(llvm::find(dims, dim) - dims.begin()));
    return AffineMap::get(dims.size(), 0, results, inner.getContext());
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : reads) {
    inputs.push_back(read.tensor);
    maps.push_back(mapOf(read.dims));
  }
  maps.push_back(mapOf(kept));
  SmallVector<utils::IteratorType> iterators;
  for (int64_t dim : dims)
    iterators.push_back(llvm::is_contained(kept, dim) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  auto op = inner.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, iterators,
                                            [&](OpBuilder &builder, Location, ValueRange scalars) {
                                              builder.create<linalg::YieldOp>(loc, body(builder, scalars));
                                            });
  op->setAttr(exec::ExecDialect::kDims, inner.getDenseI64ArrayAttr(dims));
  return op.getResult(0);
}

static SmallVector<int64_t> sizesOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> space) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return space[dim]; });
}

Value KernelBuilder::parallel(ArrayRef<int64_t> dims, ArrayRef<Read> reads, Type element, Body body) {
  Value empty = inner.create<tensor::EmptyOp>(loc, sizesOf(dims, space), element);
  return generic(dims, dims, reads, empty, body);
}

Value KernelBuilder::reduction(ArrayRef<int64_t> dims, ArrayRef<int64_t> kept, ArrayRef<Read> reads, TypedAttr init,
                               Body body) {
  Value scalar = inner.create<arith::ConstantOp>(loc, init);
  Value empty = inner.create<tensor::EmptyOp>(loc, sizesOf(kept, space), init.getType());
  Value filled = inner.create<linalg::FillOp>(loc, scalar, empty).getResult(0);
  return generic(dims, kept, reads, filled, body);
}

exec::KernelOp KernelBuilder::finish(ArrayRef<Value> results) {
  inner.create<exec::YieldOp>(loc, results);
  SmallVector<Value> ins;
  for (auto &[value, argument] : operands)
    ins.push_back(value);
  auto kernel = outer.create<exec::KernelOp>(loc, ValueRange(results).getTypes(), name, ins, ValueRange(), space);
  kernel.getBody().takeBody(region);
  return kernel;
}
