//===- BufferNames.h - what lies in the arena, by name ----------*- C++ -*-===//
//
// A transient buffer is called by what lies in it: a parameter that was gathered, or will
// be, by the parameter's name; the gradient of a parameter, reduced or not, by that and ".grad";
// anything else by the layer whose action wrote it.  Behind it stands the number of the
// action, and that of the out where it has several: "h.0.attn@12#1", "wte.weight@1".
// Inputs and results of the program have names of their own.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_BUFFERNAMES_H
#define BRAID_LIB_CODEGEN_BUFFERNAMES_H

#include "lib/Codegen/ArenaMap.h"
#include "llvm/ADT/DenseSet.h"

namespace braid::codegen {

/// The name that users know of a tensor that lives across programs.
llvm::StringRef nameOf(exec::TensorOp tensor);

/// The names of a program's buffers, told action by action, in their order.
class BufferNames {
public:
  BufferNames(exec::ProgramOp program, const ArenaMap &arena);
  /// Goes on to an action, the `number`th.
  void enter(exec::ActionOpInterface action, unsigned number);
  /// What lies at a place before that action, and after it.
  std::string before(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/false); }
  std::string after(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/true); }
  /// What lay first in a buffer, and how often it was written after that.
  std::string history(exec::BufferOp buffer) const;

private:
  void nameGathered(exec::ActionOpInterface action);
  void nameGradients(exec::LaunchOp launch);
  void nameSent(exec::ActionOpInterface action);
  std::string nameOf(mlir::Value ref, bool ofWritten) const;

  const ArenaMap &arena;
  /// By storage, without numbers: parameters in other sizes, and gradients.
  llvm::DenseMap<mlir::Operation *, std::string> parameters, gradients;
  /// Parameters that what lies in a buffer is gathered to, and the launches that write it
  /// there, perhaps over the gradient.
  llvm::DenseMap<mlir::Operation *, exec::TensorOp> updated;
  llvm::DenseSet<mlir::Operation *> updates;
  struct Names {
    std::string first, before, after;
    unsigned numWrites = 0;
  };
  llvm::DenseMap<mlir::Operation *, Names> names;
  llvm::SmallVector<mlir::Operation *> written; // by the current action
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_BUFFERNAMES_H
