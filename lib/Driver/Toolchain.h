//===- Toolchain.h - from generated sources to a binary ---------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_TOOLCHAIN_H
#define BRAID_LIB_DRIVER_TOOLCHAIN_H

#include "lib/Codegen/Codegen.h"
#include "lib/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// A transport that is an archive of its own, built where its library was there.
struct TransportLibrary {
  std::string name;               // gloo, mpi
  std::string archive;            // lib/braid/libbraid_rt_gloo.a
  std::vector<std::string> words; // what it needs on the link line
};

/// The runtime that generated programs are compiled and linked against.
struct RuntimeFolder {
  std::string sources; // share/braid/runtime: headers and sources
  std::string library; // lib/braid/libbraid_rt.a
  /// Those that the binary is to have, beside `threads`.
  std::vector<TransportLibrary> transports;
};

/// Looks in `options.runtimeDir`, or around the running program (`program` is
/// argv[0]).  An error if a transport that `options` name is not there.
llvm::Expected<RuntimeFolder> findRuntime(const DriverOptions &options, const char *program);

/// Compiles sources that lie in `folder` to the binary `output`; objects and messages
/// go to `scratch`.
llvm::Error compileBinary(llvm::StringRef folder, llvm::StringRef scratch, const RuntimeFolder &runtime, const DriverOptions &options,
                          llvm::StringRef output);

/// Writes generated sources, the runtime's sources and a CMakeLists.txt to a
/// folder that builds without LLVM.
llvm::Error writeSourceFolder(llvm::StringRef folder, llvm::ArrayRef<SourceFile> sources, const RuntimeFolder &runtime,
                              const DriverOptions &options, llvm::StringRef name);

/// Writes only the generated sources.
llvm::Error writeSources(llvm::StringRef folder, llvm::ArrayRef<SourceFile> sources);

} // namespace braid

#endif // BRAID_LIB_DRIVER_TOOLCHAIN_H
