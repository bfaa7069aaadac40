//===- Chapters.h - where a program's pass and unit change ------*- C++ -*-===//
//
// Headings for a list of actions.  A training program computes a loss, gradients, and
// updates: an action belongs to
//
//   forward   if the loss depends on it
//   update    if it writes parameters or optimizer state, or what such actions alone read
//             and is no gradient
//   backward  otherwise
//
// by the storages that actions read and write.  The unit is the one of a parameter's
// (`unit = "h.0"`) that the layer it came from lies in; else the layer itself.
// Communication is begun and waited for where it hides best, among work of other units:
// it has no headings.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_CHAPTERS_H
#define BRAID_LIB_CODEGEN_CHAPTERS_H

#include "lib/Codegen/ArenaMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace braid::codegen {

class Chapters {
public:
  Chapters(exec::ProgramOp program, const ArenaMap &arena);
  /// The heading of the chapter that an action begins, "forward: h.0"; empty where it
  /// goes on with the one before.  For actions in their order.
  std::string begin(exec::ActionOpInterface action);

private:
  void findForward(exec::ProgramOp program);
  void findUpdate(exec::ProgramOp program);
  bool isUpdate(exec::ActionOpInterface action, const llvm::DenseSet<mlir::Operation *> &readByOthers) const;
  llvm::StringRef passOf(mlir::Operation *action) const;
  std::string unitOf(mlir::Operation *action) const;

  const ArenaMap &arena;
  llvm::StringSet<> units;
  llvm::DenseSet<mlir::Operation *> forward, update;
  bool trains = false; // it writes what lives on
  std::string current;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_CHAPTERS_H
