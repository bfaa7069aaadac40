//===- RankPrograms.h - which functions are a program of ranks --*- C++ -*-===//
//
// A function with `comm.program = #comm.program<@mesh>` is a program by itself:
// all ranks run it.  The functions of a module that name coordinates along an axis of one
// mesh, and the same entry, make one program together.  The functions of a pipeline's cells are one
// program, too, which ranks run by the rows of its table.
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
  /// Whether they are the cells of the module's pipeline.
  bool isTable = false;
};

/// The programs of a module in the order of their first functions; an error where
/// a collective is in a function that no rank is said to run.
mlir::FailureOr<std::vector<RankProgram>> collectRankPrograms(mlir::ModuleOp module);

/// Reads the communications of the program's ranks; an error where ranks have two
/// functions or none, where a ticket is not waited for once, or where the place of
/// a collective in the order is unknown.
mlir::FailureOr<OrderProblem> readOrder(const RankProgram &program);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_RANKPROGRAMS_H
