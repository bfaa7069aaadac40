//===- PlaceNames.h - constants that name bytes of the arena --------*- C++ -*-===//
//
// Generated code gives the address of a tensor by a constant, `m[hidden_weight]`. Its declaration states bytes, live
// range and category. Constants of persistent tensors are in the namespace `at`, those of buffers in an inner namespace
// of their program. These names hide those of the runtime, so names that the surrounding code uses are rejected here. A
// buffer is named after its first contents (BufferNames.h).
//
// User-defined names become identifiers of letters, digits and underscores. They are unique and differ from all other
// names in the generated code.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_PLACENAMES_H
#define BRAID_COMPILER_CODEGEN_PLACENAMES_H

#include "compiler/Codegen/BufferNames.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace braid::codegen {

class PlaceNames {
public:
  PlaceNames(mlir::ModuleOp module, const ArenaMap &arena);
  /// Names the buffers of a program, and forgets those of the previous program.
  void enter(exec::ProgramOp program, const BufferNames &names);
  /// Returns the offset in the arena of a reference plus `extraBytes`: "x", "x + 128".
  std::string of(mlir::Value ref, int64_t extraBytes = 0) const;
  /// Returns the scratch memory of the program's calls.
  llvm::StringRef scratch() const { return scratchName; }

  /// Return the declarations of persistent tensors, and of the program's buffers.
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
  llvm::StringSet<> tensorNames, taken; // names of tensors; all names
  std::string scratchName;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_PLACENAMES_H
