//===- HostCopies.h - copies between a device and its host ------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_HOSTCOPIES_H
#define BRAID_COMPILER_REPORT_HOSTCOPIES_H

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
  /// Predictions of the schedule in seconds; 0 if there are none.
  double predictedSeconds = 0, exposedSeconds = 0;
  std::string waitsFor;
  /// Actions that start the copy and wait for it.
  int64_t first, last;
  /// Tensors on the host: persistent tensors by symbol, activations by their name in the graph.
  std::vector<std::string> tensors;
  /// Symbols of the tensors on the host and on the device.
  std::vector<std::string> symbols;
};

/// Activations of a program that wait for backward in the host's memory.
struct WaitingActivations {
  std::string program;
  int64_t count = 0, bytes = 0;
  /// Bytes that are not on the device at the peak of its live bytes.
  int64_t bytesAwayAtPeak = 0;
};

/// Reads a module in memory form.
std::vector<HostCopyReport> readHostCopies(mlir::ModuleOp module);

/// Returns an entry for each program that has such activations.
std::vector<WaitingActivations> readWaitingActivations(const MemoryPlan &plan, llvm::ArrayRef<HostCopyReport> copies);

void printWaitingActivations(llvm::raw_ostream &stream, llvm::ArrayRef<WaitingActivations> waiting);
/// Prints a line for each direction and program, or nothing without copies.
void printHostCopies(llvm::raw_ostream &stream, llvm::ArrayRef<HostCopyReport> copies);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_HOSTCOPIES_H
