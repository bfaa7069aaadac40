//===- BufferNames.h - what lies in the arena, by name ----------*- C++ -*-===//
//
// A transient buffer is named after its contents.  A parameter that was gathered, or will be,
// has the parameter's name; the gradient of a parameter, reduced or not, has this name and
// ".grad"; anything else has the name of the layer whose action wrote it.  The number of the
// action follows, and the number of the out if there are several: "h.0.attn@12#1",
// "wte.weight@1".  Inputs and results of the program have their own names.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_BUFFERNAMES_H
#define BRAID_LIB_CODEGEN_BUFFERNAMES_H

#include "lib/Codegen/ArenaMap.h"
#include "llvm/ADT/DenseSet.h"

namespace braid::codegen {

/// The name that users know for a persistent tensor.
llvm::StringRef nameOf(exec::TensorOp tensor);

/// The names of a program's buffers, which change from action to action.
class BufferNames {
public:
  BufferNames(exec::ProgramOp program, const ArenaMap &arena);
  /// Advances to the next action, whose number is `number`.
  void enter(exec::ActionOpInterface action, unsigned number);
  /// The name of the contents of a place before that action, and after it.
  std::string before(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/false); }
  std::string after(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/true); }
  /// The first contents of a buffer, and how often it was overwritten.
  std::string history(exec::BufferOp buffer) const;

private:
  void nameGathered(exec::ActionOpInterface action);
  void nameGradients(exec::LaunchOp launch);
  void nameSent(exec::ActionOpInterface action);
  std::string nameOf(mlir::Value ref, bool ofWritten) const;

  const ArenaMap &arena;
  /// The names without numbers, by storage: of parts and gathered copies of parameters, and of
  /// gradients.
  llvm::DenseMap<mlir::Operation *, std::string> parameters, gradients;
  /// The parameter that a buffer's contents are gathered to, and the launches that write these
  /// contents, perhaps over the gradient.
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
