//===- MainText.h - main, or what takes its place in a library --*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_MAINTEXT_H
#define BRAID_COMPILER_CODEGEN_MAINTEXT_H

#include "compiler/Codegen/StepEmitter.h"

namespace braid::codegen {

/// Returns main of a training binary, and the function that takes its place in a library. Programs of many ranks
/// register the transports that they are linked with.
std::string mainText(const StepEmitter &emitter, bool manyRanks);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_MAINTEXT_H
