//===- PrintRows.cpp - gathers and scatters of rows -----------------------===//

#include "compiler/Codegen/StepPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

/// Checks the runtime's requirements: contiguous operands and 32-bit indices.
LogicalResult StepPrinter::verifyRows(Operation *op, exec::RefType indices, ArrayRef<exec::RefType> operands) {
  if (!indices.getElementType().isInteger(32))
    return op->emitError() << "indices of type " << indices.getElementType() << " are not supported; the "
                           << emitter.target << " target reads i32";
  if (!indices.isContiguous() || !llvm::all_of(operands, [](exec::RefType type) { return type.isContiguous(); }))
    return op->emitError() << "the " << emitter.target << " target's "
                           << cast<exec::ActionOpInterface>(op).getActionName() << " needs contiguous operands";
  return success();
}

template <> LogicalResult StepPrinter::print(exec::GatherOp op) {
  auto table = cast<exec::RefType>(op.getTable().getType()), indices = cast<exec::RefType>(op.getIndices().getType());
  if (failed(verifyRows(op, indices, {table, cast<exec::RefType>(op.getOuts()[0].getType())})))
    return failure();
  int64_t rows = table.getShape()[0], count = indices.getTensorType().getNumElements();
  printTyped("gather", {table.getElementType()},
             {std::to_string(count), std::to_string(rows),
              std::to_string(table.getTensorType().getNumElements() / rows), addressText(op.getTable()),
              addressText(op.getIndices()), addressText(op.getOuts()[0])});
  return success();
}

template <> LogicalResult StepPrinter::print(exec::ScatterAddOp op) {
  auto indices = cast<exec::RefType>(op.getIndices().getType()),
       updates = cast<exec::RefType>(op.getUpdates().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (failed(verifyRows(op, indices, {updates, out})))
    return failure();
  if (updates.getElementType() != out.getElementType() && !target.supportsF32Scatter)
    return op->emitError() << "sums rows of " << updates.getElementType() << " into a table of " << out.getElementType()
                           << ", which the " << emitter.target
                           << " target does not support; lower the module for this target";
  int64_t rows = out.getShape()[0], count = indices.getTensorType().getNumElements();
  SmallVector<std::string> arguments{std::to_string(count),
                                     std::to_string(rows),
                                     std::to_string(out.getTensorType().getNumElements() / rows),
                                     addressText(op.getIndices()),
                                     addressText(op.getUpdates()),
                                     op.getAccumulator() ? "1" : "0",
                                     addressText(op.getOuts()[0])};
  uint64_t scratch = op.getWorkspaceBytes(target.workspace);
  if (scratch > workspaceBytes)
    return op.emitError() << "sorts in " << scratch << " bytes of scratch memory, but the program has "
                          << workspaceBytes << "; plan the module for the " << emitter.target << " target";
  if (target.onDevice())
    arguments.push_back("m[" + places.scratch().str() + "]");
  printTyped("scatter_add", {out.getElementType(), updates.getElementType()}, std::move(arguments));
  return success();
}

std::optional<LogicalResult> printers::Rows(StepPrinter &printer, Operation *op) {
  return printer.printIf<exec::GatherOp, exec::ScatterAddOp>(op);
}
