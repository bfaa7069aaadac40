//===- Sections.h - the sections of a generated program ---------*- C++ -*-===//
//
// The generated function of a program has a heading wherever the pass or the unit changes.
// The storages that an action reads and writes decide its pass in a training program:
//
//   forward   the loss depends on the action
//   update    the action writes parameters or optimizer state, or a temporary that only
//             such actions read and that is no gradient
//   backward  otherwise
//
// The unit is the parameter unit (`unit = "h.0"`) that contains the layer of the action; if
// there is none, the layer itself.  Communication has no headings, because collectives are
// started and waited for among the actions of other units, where they overlap best.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_SECTIONS_H
#define BRAID_LIB_CODEGEN_SECTIONS_H

#include "lib/Codegen/ArenaMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace braid::codegen {

class Sections {
public:
  Sections(exec::ProgramOp program, const ArenaMap &arena);
  /// The heading of the section that an action begins, such as "forward: h.0"; empty if the
  /// action continues the current section.  Must be called for the actions in order.
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
  bool trains = false; // the program writes persistent tensors
  std::string current;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_SECTIONS_H
