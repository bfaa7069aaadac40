//===- Paths.h - names of inputs and outputs in Python ----------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_PATHS_H
#define BRAID_LIB_IMPORT_TORCH_PATHS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace braid::torch {

/// Returns the paths of a program's inputs or outputs, such as batch.input_ids, from the text that torch.export wrote
/// for their nested tuples, lists, dicts and dataclasses. Parts of tuples are numbers. `arguments` names the parameters
/// of forward if the text is that of inputs. Returns nothing if the text has another form.
std::vector<std::string> pathsOf(llvm::StringRef text, llvm::ArrayRef<std::string> arguments, bool isInputs);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_PATHS_H
