//===- Toolchain.h - from generated sources to a binary ---------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_TOOLCHAIN_H
#define BRAID_LIB_DRIVER_TOOLCHAIN_H

#include "lib/Codegen/Codegen.h"
#include "lib/Driver/Options.h"
#include "llvm/Support/Error.h"

namespace braid {

/// A part of the runtime that is an archive of its own, built where the libraries it
/// needs were there.
struct RuntimePart {
  std::string name;               // gloo, mpi, cuda
  std::string archive;            // lib/braid/libbraid_rt_gloo.a
  std::vector<std::string> words; // what it needs on the link line
};

/// The runtime that generated programs are compiled and linked against.
struct RuntimeFolder {
  std::string sources; // share/braid/runtime: headers and sources
  std::string headers; // share/braid/include: header libraries that it uses
  std::string library; // lib/braid/libbraid_rt.a
  /// What the binary is linked with before the library: its transports but `threads`,
  /// and its target, unless that is the CPU.
  std::vector<RuntimePart> parts;
};

/// A transport with a library of its own.
struct TransportLibrary {
  llvm::StringLiteral name;
  /// What model.cpp is told where the binary has it.
  llvm::StringLiteral macro;
  /// What to install where the runtime was built without it.
  llvm::StringLiteral package;
};
/// Those that the target's binaries can have.
llvm::SmallVector<TransportLibrary> transportLibraries(const DriverOptions &options);

/// Looks in `options.runtimeDir`, or around the running program (`program` is
/// argv[0]).  An error if a target or a transport that `options` name is not there.
llvm::Expected<RuntimeFolder> findRuntime(const DriverOptions &options, const char *program);

/// Compiles sources that lie in `folder` to the binary `output`; objects and messages
/// go to `scratch`.
llvm::Error compileBinary(llvm::StringRef folder, llvm::StringRef scratch, const RuntimeFolder &runtime,
                          const DriverOptions &options, llvm::StringRef output);

} // namespace braid

#endif // BRAID_LIB_DRIVER_TOOLCHAIN_H
