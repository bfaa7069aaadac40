//===- BufferNames.h - names of the contents of the arena -------*- C++ -*-===//
//
// A transient buffer is named after its contents, which facts describe:
//   - A gathered parameter, before or after the gather, has the name of the parameter.
//   - The gradient of a parameter, reduced or not, has this name and ".grad".
//   - Other values have the name of the layer whose action wrote them and of the value: "h.0.ln_2.normed".
// The number of the action follows if the name is taken or the value has no name. Then the index of the out also
// follows if there are several: "h.0.attn@12#1", "wte.weight@1". Inputs and results of the program keep their own
// names.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_BUFFERNAMES_H
#define BRAID_COMPILER_CODEGEN_BUFFERNAMES_H

#include "compiler/Codegen/ArenaMap.h"
#include "dialects/TG/Facts.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace braid::codegen {

/// Names of a program's buffers, which change from action to action.
class BufferNames {
public:
  BufferNames(exec::ProgramOp program, const ArenaMap &arena);
  /// Advances to the next action, whose index is `number`.
  void enter(exec::ActionOpInterface action, unsigned number);
  /// Return the name of the contents of a place before and after the current action.
  std::string before(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/false); }
  std::string after(mlir::Value ref) const { return nameOf(ref, /*ofWritten=*/true); }
  /// Returns the name of the first contents of a buffer.
  std::string first(exec::BufferOp buffer) const;
  /// Returns the name of the first contents of a buffer, and how often it was overwritten.
  std::string history(exec::BufferOp buffer) const;

private:
  std::string nameFor(tg::FactsAttr facts) const;
  std::string nameFor(exec::ActionOpInterface action, unsigned out, unsigned number);
  std::string nameOf(mlir::Value ref, bool ofWritten) const;

  const ArenaMap &arena;
  /// Names of persistent tensors, by parameter and their kind of relation to it.
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

#endif // BRAID_COMPILER_CODEGEN_BUFFERNAMES_H
