//===- KernelBody.h - analysis of kernel bodies -----------------*- C++ -*-===//
//
// Analyses of the generics in the body of a kernel (or kernel_def), shared by the
// verifier, fusion, planning and printing.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_KERNELBODY_H
#define BRAID_DIALECTS_EXEC_KERNELBODY_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace braid::exec {

/// Attribute of a kernel_def: the numbers of the outs that bypass the caches.
constexpr llvm::StringLiteral kStreamed = "exec.streamed";

enum class GenericKind { Parallel, LaneReduction, RowReduction };

/// Returns the kind of a generic, from its iterators and `exec.dims`. `lanes` is the
/// number of the lane dim (the rank of the space minus one).
GenericKind kindOf(mlir::linalg::GenericOp generic, int64_t lanes);

/// Returns the dims of the space that its loops run over, in order.
llvm::ArrayRef<int64_t> dimsOf(mlir::linalg::GenericOp generic);

/// Returns the dims of the space that index an operand of a generic, in order.
llvm::SmallVector<int64_t> operandDims(mlir::linalg::GenericOp generic, mlir::OpOperand &operand);

/// Returns the number of leading dims that a row reduction leaves parallel (its blocks).
int64_t blockDims(mlir::linalg::GenericOp rowReduction);

/// Returns the phase in which each generic runs: the number of lane reductions that
/// must be complete before its value is known.
llvm::DenseMap<mlir::Operation *, int64_t> phasesOf(mlir::Block &body, int64_t lanes);

/// Read of one element of a table row, in the body of a generic: `tensor.extract %table[%row,
/// %lane]`. The row is a number that is cast to an index; the lane is an index of the generic.
struct TableRead {
  /// Kernel operands: the table, and the operand from which the row is computed (null if there is none, or several).
  mlir::BlockArgument table, numbers;
  mlir::Value row;
  /// The loop over the lanes.
  unsigned loop;
};
std::optional<TableRead> tableReadOf(mlir::tensor::ExtractOp extract);

/// Calls `visit` on every such read in a body, with the generic around it.
void visitTableReads(mlir::Block &body, llvm::function_ref<void(mlir::linalg::GenericOp, const TableRead &)> visit);

mlir::LogicalResult verifyKernelBody(mlir::Operation *kernel, mlir::Block &body, llvm::ArrayRef<int64_t> space,
                                     llvm::ArrayRef<mlir::Type> ins, llvm::ArrayRef<mlir::Type> outs);

/// Returns whether result `result` may overwrite operand `in`: every read of the
/// operand is at the row and lane of the write, and none comes in a later phase.
bool writesInPlace(mlir::Block &body, int64_t lanes, unsigned result, unsigned in);

/// Returns whether each element is computed alike, from the same element of every
/// operand that is not a scalar. The shape then does not matter for contiguous memory.
bool isElementwiseBody(mlir::Block &body, size_t rank);

/// Return whether the last dim of operand `in`, or of result `result`, is the lanes
/// wherever the body reads or makes it.
bool readsAlongLanes(mlir::Block &body, int64_t lanes, unsigned in);
bool writesAlongLanes(mlir::Block &body, int64_t lanes, unsigned result);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_KERNELBODY_H
