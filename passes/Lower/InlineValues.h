//===- InlineValues.h - values that take no memory --------------*- C++ -*-===//
//
// Constants, iotas, broadcasts, cheap arithmetic on constants and iotas, and bf16
// read as wider floats are computed where they are read: their scalar code is
// written into the body of each generic that reads them.  What is left are reads of
// tensors.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_INLINEVALUES_H
#define BRAID_PASSES_LOWER_INLINEVALUES_H

#include "passes/Lower/KernelBuilder.h"

namespace braid {

/// True for ops that InlineExpression can write: elementwise ones, broadcasts, constants
/// and indices.
bool isExpression(mlir::Operation *op);

/// True if the value is computed where it is read.
bool isInlined(mlir::Value value);

/// If the value is a tensor of bf16 read as wider floats, that tensor; else null.
mlir::Value widenedFrom(mlir::Value value);

/// The scalar expression of tensor values at one point of an iteration space.
class InlineExpression {
public:
  /// Which loop (dim of the space) indexes each dim of a value; -1 is index 0.
  using Coordinates = llvm::SmallVector<int64_t>;

  InlineExpression(mlir::OpBuilder &outer, mlir::Location loc) : outer(outer), loc(loc) {}

  /// Registers the tensors that `value` at `coordinates` reads, as operands of
  /// the kernel; `name` is what the tensor is called where it is moved from.
  void collect(KernelBuilder &kernel, mlir::Value value, const Coordinates &coordinates, llvm::StringRef name = "");
  llvm::ArrayRef<KernelBuilder::Read> getReads() const { return reads; }
  /// Writes the scalar `value` at `coordinates`, given a scalar for each read.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::ValueRange scalars, mlir::Value value,
                   const Coordinates &coordinates);

private:
  mlir::OpBuilder &outer;
  mlir::Location loc;
  llvm::SmallVector<KernelBuilder::Read> reads;
  /// The reads by the value outside; few, so searched in order.
  llvm::SmallVector<std::pair<mlir::Value, Coordinates>> sources;
};

/// A kernel that writes an inlined value, or a copy of a view, to memory.
mlir::Value copyToMemory(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, mlir::Value value);

/// The dims of a tensor's kernel: all, in order; a scalar has none.
llvm::SmallVector<int64_t> allDims(mlir::RankedTensorType type);
/// The iteration space of a tensor's kernel: its shape; a scalar is one lane.
llvm::SmallVector<int64_t> spaceOf(mlir::RankedTensorType type);

/// Writes the scalar form of an elementwise op (arith, math, tg.convert).
mlir::Value emitScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op, mlir::ValueRange operands);

/// True for ops with one scalar formula for all elements.
bool isElementwise(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_LOWER_INLINEVALUES_H
