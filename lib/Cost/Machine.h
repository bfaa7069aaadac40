//===- Machine.h - rates of a module's machine ------------------*- C++ -*-===//
//
// Passes that predict times call `machineOf`. It returns the rates of the target's row, except those that
// `exec.machine` on the module replaces.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_COST_MACHINE_H
#define BRAID_LIB_COST_MACHINE_H

#include "dialects/Comm/Mesh.h"
#include "lib/Cost/Cost.h"
#include <array>

namespace braid {

/// Rates of one machine.
struct Machine {
  const TargetInfo *target;
  ComputeRates compute;
  HostRates host;
  /// Link of each axis of the mesh that is not in `links`.
  LinkRates link;
  llvm::SmallVector<std::pair<mlir::StringAttr, LinkRates>, 0> links;
  /// Whether `exec.machine` gives links. Otherwise `link` is the target's.
  bool linkIsGiven = false;

  /// Link between the ranks of a group: the greatest latency and the least rate of the axes with several ranks.
  LinkRates slowestLink(comm::AxesAttr axes, const comm::Mesh &mesh) const;
  /// Seconds of a collective on its link.
  double seconds(comm::CollectiveOpInterface op, const comm::Mesh &mesh) const {
    return slowestLink(op.getAxes(), mesh).seconds(op, mesh.sizeOf(op.getAxes()));
  }
};

/// Returns the machine of the module around `op`. Fails with an error if `exec.target` names an unknown target.
mlir::FailureOr<Machine> machineOf(mlir::Operation *op);

/// One `latency_us,GBps` of a text, with the axis before it, if any.
struct LinkText {
  llvm::StringRef axis;
  std::array<double, 2> rates;
};

/// Parses links: "20,1.25" or "tp:5,100,dp:20,1.25". A pair without an axis is for all axes that are not named. No
/// value if the text has another form, or names an axis twice.
std::optional<llvm::SmallVector<LinkText>> readLinks(llvm::StringRef text);

/// Parses the options --link and --compute ("GFLOPS,GBps"), one of which may be empty.
llvm::Expected<exec::MachineAttr> readMachine(mlir::MLIRContext *context, llvm::StringRef link,
                                              llvm::StringRef compute);

} // namespace braid

#endif // BRAID_LIB_COST_MACHINE_H
