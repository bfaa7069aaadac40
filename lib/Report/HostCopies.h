//===- HostCopies.h - what goes between a device and its host ---*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_HOSTCOPIES_H
#define BRAID_LIB_REPORT_HOSTCOPIES_H

#include "lib/Memory/Plan.h"
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
  /// What lies on the host: persistent tensors by their symbols, activations as their graph calls them.
  std::vector<std::string> tensors;
  /// The symbols of both.
  std::vector<std::string> symbols;
};

/// The activations of a program that wait for backward in the host's memory.
struct WaitingActivations {
  std::string program;
  int64_t count = 0, bytes = 0;
  /// How many of the bytes are not on the device when the most bytes are live there.
  int64_t bytesAwayAtPeak = 0;
};

/// Reads a module in memory form.
std::vector<HostCopyReport> readHostCopies(mlir::ModuleOp module);

/// Of the programs that have any.
std::vector<WaitingActivations> readWaitingActivations(const MemoryPlan &plan, llvm::ArrayRef<HostCopyReport> copies);

void printWaitingActivations(llvm::raw_ostream &stream, llvm::ArrayRef<WaitingActivations> waiting);
/// A line for each direction and program; nothing where nothing is copied.
void printHostCopies(llvm::raw_ostream &stream, llvm::ArrayRef<HostCopyReport> copies);

} // namespace braid

#endif // BRAID_LIB_REPORT_HOSTCOPIES_H
