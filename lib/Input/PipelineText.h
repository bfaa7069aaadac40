//===- PipelineText.h - options of passes as text ---------------*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_PIPELINETEXT_H
#define BRAID_LIB_INPUT_PIPELINETEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid {

/// Returns an error message for unpaired quotes or brackets in the text of a pipeline or of a pass's options; empty if
/// all are in pairs. MLIR's parser would not terminate on unpaired ones.
std::string problemOfPairs(llvm::StringRef text);

} // namespace braid

#endif // BRAID_LIB_INPUT_PIPELINETEXT_H
