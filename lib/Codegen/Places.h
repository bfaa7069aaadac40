//===- Places.h - constants that name bytes of the arena --------*- C++ -*-===//
//
// Generated code gives the place of a tensor by a constant, `m[hidden_weight]`, which is declared
// with its bytes, life and category: of persistent tensors in the namespace `at`, of buffers in a
// namespace of their program inside it.  So the names hide those of the runtime, which the code around
// them does not use but for those that are refused here.  A buffer is called after its first contents
// (BufferNames.h).
//
// Names of users become identifiers: letters, digits and underscores, unique, and none that the
// generated code uses otherwise.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_PLACES_H
#define BRAID_LIB_CODEGEN_PLACES_H

#include "lib/Codegen/BufferNames.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace braid::codegen {

class Places {
public:
  Places(mlir::ModuleOp module, const ArenaMap &arena);
  /// Names the buffers of a program; those of the program before are forgotten.
  void enter(exec::ProgramOp program, const BufferNames &names);
  /// The bytes of the arena where a reference begins, and so many behind: "x", "x + 128".
  std::string of(mlir::Value ref, int64_t behind = 0) const;
  /// The scratch memory of the program's calls.
  llvm::StringRef scratch() const { return scratchName; }

  /// Declarations of persistent tensors, and of the program's buffers.
  std::string tensorsText() const;
  std::string buffersText(const BufferNames &names) const;

private:
  std::string add(llvm::StringRef name, llvm::StringSet<> &names);
  std::string declare(llvm::ArrayRef<mlir::Operation *> storages,
                      llvm::function_ref<std::string(mlir::Operation *)> describe) const;

  mlir::ModuleOp module;
  const ArenaMap &arena;
  exec::ProgramOp program;
  llvm::DenseMap<mlir::Operation *, std::string> tensors, buffers;
  llvm::StringSet<> tensorNames, taken; // of tensors; of all
  std::string scratchName;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_PLACES_H
