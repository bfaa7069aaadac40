//===- InputRoles.h - what inputs are to training ---------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_INPUTROLES_H
#define BRAID_LIB_IMPORT_INPUTROLES_H

#include "lib/Import/Imported.h"

namespace braid {

/// Returns the role of an input: the one that `options` states, or else the one that its name and element type suggest.
/// Reports an error if neither tells; the program's name of the type is `typeName`.
mlir::FailureOr<tg::Role> roleOf(llvm::StringRef name, mlir::Type element, llvm::StringRef typeName,
                                 const ImportOptions &options, mlir::Location loc);

} // namespace braid

#endif // BRAID_LIB_IMPORT_INPUTROLES_H
