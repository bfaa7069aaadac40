//===- SourceFolder.h - generated sources as files --------------*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_SOURCEFOLDER_H
#define BRAID_COMPILER_DRIVER_SOURCEFOLDER_H

#include "compiler/Driver/Toolchain.h"

namespace braid {

/// Checks that `writeSourceFolder` may write to the folder: it is new or empty, or its CMakeLists.txt says that braidc
/// wrote it.
llvm::Error checkSourceFolder(llvm::StringRef folder);

/// Writes generated sources, the runtime's sources and a CMakeLists.txt to a folder. The folder builds without LLVM,
/// with a C++ compiler, and nvcc for CUDA. Existing files of the same names are replaced.
llvm::Error writeSourceFolder(llvm::StringRef folder, llvm::ArrayRef<SourceFile> sources, const RuntimeFolder &runtime,
                              const DriverOptions &options, llvm::StringRef name);

/// Writes only the generated sources.
llvm::Error writeSources(llvm::StringRef folder, llvm::ArrayRef<SourceFile> sources);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_SOURCEFOLDER_H
