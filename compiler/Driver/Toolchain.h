//===- Toolchain.h - compiles generated sources to a binary -----*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_TOOLCHAIN_H
#define BRAID_COMPILER_DRIVER_TOOLCHAIN_H

#include "compiler/Codegen/Codegen.h"
#include "compiler/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// A part of the runtime with an archive of its own. It exists only if the libraries it needs were found when the
/// runtime was built.
struct RuntimePart {
  std::string name;               // gloo, mpi, cuda
  std::string archive;            // lib/braid/libbraid_rt_gloo.a
  std::vector<std::string> words; // linker arguments that it needs
};

/// The runtime that generated programs are compiled and linked against.
struct RuntimeFolder {
  std::string sources; // share/braid/runtime: headers and sources
  std::string headers; // share/braid/include: header libraries that it uses
  std::string library; // lib/braid/libbraid_rt.a
  /// Archives that the linker gets before the library: the transports except `threads`, and the target except the CPU.
  std::vector<RuntimePart> parts;
};

/// A transport with a library of its own.
struct TransportLibrary {
  llvm::StringLiteral name;
  /// Macro that tells model.cpp that the binary has this transport.
  llvm::StringLiteral macro;
  /// Package to install if the runtime was built without the transport.
  llvm::StringLiteral package;
};
/// Returns the transports that binaries of the target can have.
llvm::SmallVector<TransportLibrary> transportLibraries(const DriverOptions &options);

/// Searches `options.runtimeDir`, or around the running program (`program` is argv[0]). Returns an error if a target or
/// a transport that `options` name is missing.
llvm::Expected<RuntimeFolder> findRuntime(const DriverOptions &options, const char *program);

/// Compiles the sources in `folder` to the binary `output`. Object files and messages go to `scratch`.
llvm::Error compileBinary(llvm::StringRef folder, llvm::StringRef scratch, const RuntimeFolder &runtime,
                          const DriverOptions &options, llvm::StringRef output);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_TOOLCHAIN_H
