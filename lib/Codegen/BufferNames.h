//===- BufferNames.h - what lies in the arena, by name ----------*- C++ -*-===//
//
// A transient buffer is named after its contents, of which facts say what they are: a
// parameter that was gathered, or will be, has the parameter's name; the gradient of a
// parameter, reduced or not, has this name and ".grad"; anything else has the name of the layer
// whose action wrote it and that of the value there, "h.0.ln_2.normed".  The number of the action
// follows where something else has this name, or the value has none; then also the number of the
// out if there are several: "h.0.attn@12#1", "wte.weight@1".  Inputs and results of the program
// have their own names.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_BUFFERNAMES_H
#define BRAID_LIB_CODEGEN_BUFFERNAMES_H

#include "dialects/TG/Facts.h"
#include "lib/Codegen/ArenaMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace braid::codegen {

/// The names of a program's buffers, which change from action to action.
class BufferNames {
public:
  BufferNames(exec::ProgramOp program, const ArenaMap &arena);
  /// Advances to the next action, whose number is `number`.
  void enter(exec::ActionOpInterface action, unsigned number);
  /// The name of the contents of a place before that action, and after it.
  std::string before(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/false); }
  std::string after(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/true); }
  /// The first contents of a buffer.
  std::string first(exec::BufferOp buffer) const;
  /// The first contents of a buffer, and how often it was overwritten.
  std::string history(exec::BufferOp buffer) const;

private:
  std::string nameFor(tg::FactsAttr facts) const;
  std::string nameFor(exec::ActionOpInterface action, unsigned out, unsigned number);
  std::string nameOf(mlir::Value ref, bool ofWritten) const;

  const ArenaMap &arena;
  /// The names of persistent tensors, by the parameters and what they are to these.
  std::map<std::pair<std::string, tg::TensorKind>, std::string> tensors;
  struct Names {
    std::string first, before, after;
    unsigned numWrites = 0;
  };
  llvm::DenseMap<mlir::Operation *, Names> names;
  llvm::StringSet<> values;                     // names that an action has written
  llvm::SmallVector<mlir::Operation *> written; // by the current action
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_BUFFERNAMES_H
