//===- InputRoles.h - what inputs are to training ---------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_INPUTROLES_H
#define BRAID_LIB_IMPORT_TORCH_INPUTROLES_H

#include "lib/Import/Torch/Translator.h"

namespace braid::torch {

/// Returns the role of an input: the one that `options` states, or else the one that its name and type suggest. Reports
/// an error if neither tells.
mlir::FailureOr<tg::Role> roleOf(const Input &input, const Program &program, const ImportOptions &options,
                                 mlir::Location loc);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_INPUTROLES_H
