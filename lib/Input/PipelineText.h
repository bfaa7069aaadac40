//===- PipelineText.h - options of passes as text ---------------*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_PIPELINETEXT_H
#define BRAID_LIB_INPUT_PIPELINETEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid {

/// What is wrong with quotes and brackets in the text of a pipeline or of a pass's options,
/// where MLIR's parser would search for the end for ever; empty if they are in pairs.
std::string problemOfPairs(llvm::StringRef text);

} // namespace braid

#endif // BRAID_LIB_INPUT_PIPELINETEXT_H
