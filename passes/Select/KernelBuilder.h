//===- KernelBuilder.h - writes exec.kernel bodies --------------*- C++ -*-===//
//
// Builds one kernel in value form: add operands, add generics that read operands or earlier generics, and finish with
// the values to return.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SELECT_KERNELBUILDER_H
#define BRAID_PASSES_SELECT_KERNELBUILDER_H

#include "dialects/Exec/Exec.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

class KernelBuilder {
public:
  using Value = mlir::Value;
  using Dims = llvm::SmallVector<int64_t>;

  /// A tensor of the kernel and the dims of the space that index it.
  struct Read {
    Value tensor;
    Dims dims;
  };
  /// Writes the scalar body. Receives a scalar for each read and, for reductions, the running value last; returns the
  /// new value.
  using Body = llvm::function_ref<Value(mlir::OpBuilder &, mlir::ValueRange)>;

  KernelBuilder(mlir::OpBuilder &outer, mlir::Location loc, llvm::StringRef name, llvm::ArrayRef<int64_t> space);

  /// Returns the tensor inside the kernel for `value` outside. Its name is `name`, or else the value's own.
  Value operand(Value value, llvm::StringRef name = "");
  /// Adds an elementwise generic over `dims`.
  Value parallel(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<Read> reads, mlir::Type element, Body body);
  /// Reduces the loops `dims` to those of `kept`, from `init`.
  Value reduction(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> kept, llvm::ArrayRef<Read> reads,
                  mlir::TypedAttr init, Body body);
  /// Builds the kernel with these results.
  exec::KernelOp finish(llvm::ArrayRef<Value> results);

private:
  Value generic(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> kept, llvm::ArrayRef<Read> reads, Value init,
                Body body);

  mlir::OpBuilder &outer;
  mlir::Location loc;
  std::string name;
  Dims space;
  mlir::Region region;
  mlir::OpBuilder inner;
  llvm::MapVector<Value, Value> operands;
};

} // namespace braid

#endif // BRAID_PASSES_SELECT_KERNELBUILDER_H
