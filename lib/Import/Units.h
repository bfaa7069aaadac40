//===- Units.h - names of parameters as units and initial values -*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_UNITS_H
#define BRAID_LIB_IMPORT_UNITS_H

#include "dialects/TG/TG.h"

namespace braid {

/// Returns the unit of a parameter: its path up to the first number (h.0), or else the module that holds it.
std::string unitOf(llvm::StringRef parameter);

/// Returns the distribution that a parameter has if no weights are given. PyTorch's own initial values come with the
/// program's weights; these only resemble them: scales of norms are 1, biases 0, and matrices normal with 0.02. Names
/// of scales and biases are those of PyTorch and Flax, and the usual short ones, such as ln_1.g and ln_1.b.
tg::InitAttr initialValues(llvm::StringRef parameter, mlir::MLIRContext *context);

/// Returns the attribute of a state that the program updates itself, and that begins with one number.
tg::StateAttr stateOfProgram(llvm::StringRef name, double initial, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_LIB_IMPORT_UNITS_H
