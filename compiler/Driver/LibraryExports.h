//===- LibraryExports.h - symbols of compiled libraries ---------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_LIBRARYEXPORTS_H
#define BRAID_COMPILER_DRIVER_LIBRARYEXPORTS_H

#include "llvm/ADT/StringRef.h"

namespace braid {

/// Version script of the linker: several libraries in one process must not share other symbols.
inline constexpr llvm::StringLiteral kExportsFile = "exports.map";
inline constexpr llvm::StringLiteral kLibraryExports = "{ global: braid_*; local: *; };\n";

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_LIBRARYEXPORTS_H
