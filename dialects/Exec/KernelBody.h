//===- KernelBody.h - what the body of a kernel means -----------*- C++ -*-===//
//
// Questions about the generics of a kernel (or kernel_def) body that the
// verifier, fusion, planning and printing share.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_KERNELBODY_H
#define BRAID_DIALECTS_EXEC_KERNELBODY_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace braid::exec {

/// On a kernel_def: the numbers of the outs that are written past the caches.
constexpr llvm::StringLiteral kStreamed = "exec.streamed";

enum class GenericKind { Parallel, LaneReduction, RowReduction };

/// What a generic does, from its iterators and `exec.dims`; `lanes` is the
/// number of the lane dim (the rank of the space less one).
GenericKind kindOf(mlir::linalg::GenericOp generic, int64_t lanes);

/// The dims of the space that its loops are, in order.
llvm::ArrayRef<int64_t> dimsOf(mlir::linalg::GenericOp generic);

/// The dims of the space that index an operand of a generic, in order.
llvm::SmallVector<int64_t> operandDims(mlir::linalg::GenericOp generic, mlir::OpOperand &operand);

/// The number of leading dims that a row reduction leaves parallel (its blocks).
int64_t blockDims(mlir::linalg::GenericOp rowReduction);

/// How many lane reductions must be complete before a value is known: the phase
/// in which its generic runs.
llvm::DenseMap<mlir::Operation *, int64_t> phasesOf(mlir::Block &body, int64_t lanes);

/// An element of a row of a table, in the body of a generic: `tensor.extract %table[%row, %lane]`,
/// where the row is a number that is cast to an index, and the lane an index of the generic.
struct TableRead {
  /// Operands of the kernel: the table, and what the row is computed from (null if there is no
  /// such one, or several).
  mlir::BlockArgument table, numbers;
  mlir::Value row;
  /// The loop that is the lane.
  unsigned loop;
};
std::optional<TableRead> tableReadOf(mlir::tensor::ExtractOp extract);

/// Calls `visit` on every such read of a body, with the generic around it.
void visitTableReads(mlir::Block &body, llvm::function_ref<void(mlir::linalg::GenericOp, const TableRead &)> visit);

mlir::LogicalResult verifyKernelBody(mlir::Operation *kernel, mlir::Block &body, llvm::ArrayRef<int64_t> space,
                                     llvm::ArrayRef<mlir::Type> ins, llvm::ArrayRef<mlir::Type> outs);

/// True if result `result` may overwrite operand `in`: every read of the operand
/// is at the row and lane of the write, and none comes in a later phase.
bool writesInPlace(mlir::Block &body, int64_t lanes, unsigned result, unsigned in);

/// True if each element is computed alike from the same element of every operand that
/// is not a scalar: on contiguous memory the shape does not matter.
bool treatsElementsAlike(mlir::Block &body, size_t rank);

/// True if the last dim of operand `in`, or of result `result`, is the lanes wherever
/// the body reads or makes it.
bool readsAlongLanes(mlir::Block &body, int64_t lanes, unsigned in);
bool writesAlongLanes(mlir::Block &body, int64_t lanes, unsigned result);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_KERNELBODY_H
