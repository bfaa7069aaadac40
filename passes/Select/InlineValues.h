//===- InlineValues.h - values without memory -------------------*- C++ -*-===//
//
// Constants, iotas, broadcasts, cheap arithmetic on constants and iotas, and bf16 read as wider floats are computed in
// their readers: their scalar code is written into the body of each generic that reads them. Only reads of tensors
// remain.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SELECT_INLINEVALUES_H
#define BRAID_PASSES_SELECT_INLINEVALUES_H

#include "passes/Select/KernelBuilder.h"

namespace braid {

/// Whether InlineExpression can write an op: elementwise ops, broadcasts, constants and indices.
bool isExpression(mlir::Operation *op);

/// Whether a value is computed in its readers.
bool isInlined(mlir::Value value);

/// Returns the bf16 tensor that a value is widened from, or null.
mlir::Value wideningSource(mlir::Value value);

/// The scalar expression of tensor values at one point of an iteration space.
class InlineExpression {
public:
  /// The loop (dim of the space) that indexes each dim of a value; -1 is index 0.
  using Coordinates = llvm::SmallVector<int64_t>;

  InlineExpression(mlir::OpBuilder &outer, mlir::Location loc) : outer(outer), loc(loc) {}

  /// Registers the tensors that `value` at `coordinates` reads as operands of the kernel. `name` is the tensor's name
  /// in the op that it is inlined from.
  void collect(KernelBuilder &kernel, mlir::Value value, const Coordinates &coordinates, llvm::StringRef name = "");
  llvm::ArrayRef<KernelBuilder::Read> getReads() const { return reads; }
  /// Writes the scalar `value` at `coordinates`, given a scalar for each read.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::ValueRange scalars, mlir::Value value,
                   const Coordinates &coordinates);

private:
  mlir::OpBuilder &outer;
  mlir::Location loc;
  llvm::SmallVector<KernelBuilder::Read> reads;
  /// The outside value of each read; few, so searched linearly.
  llvm::SmallVector<std::pair<mlir::Value, Coordinates>> sources;
};

/// Builds a kernel that writes an inlined value, or a copy of a view, to memory.
mlir::Value copyToMemory(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, mlir::Value value);

/// Returns the dims of a tensor's kernel: all, in order; none for a scalar.
llvm::SmallVector<int64_t> allDims(mlir::RankedTensorType type);
/// Returns the iteration space of a tensor's kernel: its shape; one lane for a scalar.
llvm::SmallVector<int64_t> spaceOf(mlir::RankedTensorType type);

/// Writes the scalar form of an elementwise op (arith, math, tg.convert).
mlir::Value emitScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op, mlir::ValueRange operands);

/// Whether an op has one scalar formula for all elements.
bool isElementwise(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_SELECT_INLINEVALUES_H
