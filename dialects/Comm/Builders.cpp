//===- Builders.cpp - builders of collectives on values -------------------===//

#include "dialects/Comm/Sharding.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

void AxisIndexOp::build(OpBuilder &builder, OperationState &state, FlatSymbolRefAttr mesh, AxesAttr axes) {
  build(builder, state, RankedTensorType::get({}, builder.getI32Type()), ValueRange(), mesh, axes);
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t dim, FlatSymbolRefAttr mesh,
                    AxesAttr axes, int64_t groupSize, int64_t shift) {
  build(builder, state, blockType(cast<RankedTensorType>(input.getType()), dim, groupSize), input, ValueRange(),
        builder.getI64IntegerAttr(dim), builder.getI64IntegerAttr(shift), mesh, axes);
}

void AssembleOp::build(OpBuilder &builder, OperationState &state, ValueRange blocks, int64_t dim,
                       ArrayRef<int64_t> shifts, FlatSymbolRefAttr mesh, AxesAttr axes, Type result) {
  build(builder, state, result, blocks, ValueRange(), builder.getI64IntegerAttr(dim),
        builder.getDenseI64ArrayAttr(shifts), mesh, axes);
}

void AllReduceOp::build(OpBuilder &builder, OperationState &state, Reduction kind, ValueRange ins,
                        FlatSymbolRefAttr mesh, AxesAttr axes) {
  build(builder, state, ins.getTypes(), ReductionAttr::get(builder.getContext(), kind), ins, ValueRange(), mesh, axes);
}

void AllGatherOp::build(OpBuilder &builder, OperationState &state, ValueRange ins, ArrayRef<int64_t> dims,
                        FlatSymbolRefAttr mesh, AxesAttr axes, TypeRange results) {
  build(builder, state, results, ins, ValueRange(), builder.getDenseI64ArrayAttr(dims), mesh, axes);
}

void ReduceScatterOp::build(OpBuilder &builder, OperationState &state, Reduction kind, ValueRange ins,
                            ArrayRef<int64_t> dims, FlatSymbolRefAttr mesh, AxesAttr axes, TypeRange results) {
  build(builder, state, results, ReductionAttr::get(builder.getContext(), kind), ins, ValueRange(),
        builder.getDenseI64ArrayAttr(dims), mesh, axes);
}

void AllToAllOp::build(OpBuilder &builder, OperationState &state, ValueRange ins, ArrayRef<int64_t> split,
                       ArrayRef<int64_t> concat, FlatSymbolRefAttr mesh, AxesAttr axes, int64_t groupSize) {
  SmallVector<Type> results;
  for (auto [value, from, to] : llvm::zip_equal(ins, split, concat))
    results.push_back(wholeType(blockType(cast<RankedTensorType>(value.getType()), from, groupSize), to, groupSize));
  build(builder, state, results, ins, ValueRange(), builder.getDenseI64ArrayAttr(split),
        builder.getDenseI64ArrayAttr(concat), mesh, axes);
}

void PermuteOp::build(OpBuilder &builder, OperationState &state, ValueRange ins, ArrayRef<int64_t> pairs,
                      FlatSymbolRefAttr mesh, AxesAttr axes) {
  build(builder, state, ins.getTypes(), ins, ValueRange(), builder.getDenseI64ArrayAttr(pairs), mesh, axes);
}
