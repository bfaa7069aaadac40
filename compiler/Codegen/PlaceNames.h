//===- PlaceNames.h - constants that name bytes of the arena --------*- C++ -*-===//
//
// Generated code gives the address of a tensor by a constant, `m[hidden_weight]`, or by an element of an array for all
// layers, `m[h_ln_2_normed[3]]` (PlaceTable.h). Those of persistent tensors are in the namespace `at`, those of buffers
// in an inner namespace of their program. These names hide those of the runtime, so names that the surrounding code
// uses are rejected there. Each content of a buffer has a name (BufferNames.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_PLACENAMES_H
#define BRAID_COMPILER_CODEGEN_PLACENAMES_H

#include "compiler/Codegen/BufferNames.h"
#include "compiler/Codegen/PlaceTable.h"

namespace braid::codegen {

class PlaceNames {
public:
  PlaceNames(mlir::ModuleOp module, const ArenaMap &arena);
  /// Names the contents of a program's buffers, and forgets those of the previous program. `names` stands at the
  /// current action.
  void enter(const BufferNames &names);
  /// Returns the offset in the arena of a reference plus `extraBytes`: "x", "x + 128".
  std::string of(mlir::Value ref, int64_t extraBytes = 0) const;
  /// Returns the scratch memory of the program's calls.
  llvm::StringRef scratch() const { return scratchName; }

  /// Return the declarations of persistent tensors, which must be the last, and of the program's buffers.
  std::string tensorsText() const;
  std::string buffersText() const { return buffers.declarations(); }

private:
  const ArenaMap &arena;
  const BufferNames *contents = nullptr;
  llvm::DenseMap<mlir::Operation *, unsigned> tensorOf;
  std::vector<int> placeOf; // of each content
  PlaceTable tensors, buffers;
  llvm::StringSet<> tensorNames;
  bool hasGaps = false;
  std::string scratchName;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_PLACENAMES_H
