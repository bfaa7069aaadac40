//===- HostCopies.h - what goes between a device and its host ---*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_HOSTCOPIES_H
#define BRAID_LIB_REPORT_HOSTCOPIES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace braid {

/// A comm.copy of a program.
struct HostCopyReport {
  std::string program;
  bool isToHost;
  int64_t bytes;
  /// As the schedule says; 0 where there is none.
  double predictedSeconds = 0, exposedSeconds = 0;
  std::string waitsFor;
  /// The actions that start it and wait for it.
  int64_t first, last;
  /// What lies on the host.
  std::vector<std::string> tensors;
};

/// Reads a module in memory form.
std::vector<HostCopyReport> readHostCopies(mlir::ModuleOp module);

/// A line for each direction and program; nothing where nothing is copied.
void printHostCopies(llvm::raw_ostream &stream, llvm::ArrayRef<HostCopyReport> copies);

} // namespace braid

#endif // BRAID_LIB_REPORT_HOSTCOPIES_H
