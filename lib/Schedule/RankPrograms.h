//===- RankPrograms.h - finds the programs of ranks -------------*- C++ -*-===//
//
// A function with `comm.program = #comm.program<@mesh>` is a whole program, which all ranks run. The functions of a
// module that name coordinates along an axis of one mesh and the same entry form one program together. The functions of
// a pipeline's cells also form one program, which ranks run by the rows of its table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_RANKPROGRAMS_H
#define BRAID_LIB_SCHEDULE_RANKPROGRAMS_H

#include "dialects/Comm/Mesh.h"
#include "lib/Schedule/Order.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Functions, or exec.programs in memory form, and the mesh that they run on.
struct RankProgram {
  mlir::FlatSymbolRefAttr meshName;
  comm::Mesh mesh;
  llvm::SmallVector<mlir::Operation *> functions;
  /// Whether the functions are the cells of the module's pipeline.
  bool isTable = false;
};

/// Returns the programs of a module in the order of their first functions. Returns an error if a collective is in a
/// function that belongs to no program.
mlir::FailureOr<std::vector<RankProgram>> collectRankPrograms(mlir::ModuleOp module);

/// Reads the communications of the program's ranks. Returns an error if a rank has two functions or none, if a ticket
/// is not waited for exactly once, or if the position of a collective in the order is unknown.
mlir::FailureOr<OrderProblem> readOrder(const RankProgram &program);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_RANKPROGRAMS_H
