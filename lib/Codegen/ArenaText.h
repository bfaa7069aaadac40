//===- ArenaText.h - what lies where, as comments ---------------*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_ARENATEXT_H
#define BRAID_LIB_CODEGEN_ARENATEXT_H

#include "lib/Codegen/BufferNames.h"
#include <string>

namespace braid::codegen {

/// The heading of a part of a file.
std::string sectionText(llvm::StringRef title);
/// The transient buffers of a program, from when to when they live, by their first
/// action.
std::string arenaText(exec::ProgramOp program, const BufferNames &names);
/// The tensors that live across programs.
std::string tensorsText(mlir::ModuleOp module);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_ARENATEXT_H
