//===- TrafficTable.cpp - collectives as tables ---------------------------===//

#include "compiler/Report/Report.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace braid;

std::string braid::formatSeconds(double seconds) {
  const char *unit = "us";
  double value = seconds * 1e6;
  if (value >= 1e6)
    unit = "s", value /= 1e6;
  else if (value >= 1e3)
    unit = "ms", value /= 1e3;
  int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f %s", digits, value, unit);
  return text;
}

static std::string secondsOr(std::optional<double> seconds) { return seconds ? formatSeconds(*seconds) : "-"; }

/// Returns `h.0.mlp.weight` or `ln_f.weight .. h.3.mlp.bias (7 tensors)`, after the unit.
static std::string contentOf(const CollectiveTraffic &collective) {
  std::string text =
      collective.unit ? (collective.unit->empty() ? "root unit" : "unit " + *collective.unit) + ", " : "";
  const std::vector<std::string> &tensors = collective.tensors;
  if (tensors.size() < 4)
    return text + llvm::join(tensors, ", ");
  return text + tensors.front() + " .. " + tensors.back() + " (" + std::to_string(tensors.size()) + " tensors)";
}

static void printProgram(llvm::raw_ostream &stream, const ProgramTraffic &program) {
  if (program.collectives.empty())
    return;
  stream << llvm::formatv("\ncollectives of program {0}: {1}, a rank moves {2} ({3} bytes)\n", program.name,
                          program.collectives.size(), formatSize(program.movedBytes), program.movedBytes);
  if (program.predictedSeconds)
    stream << llvm::formatv("  predicted: program {0}, link {1}, exposed {2}\n",
                            formatSeconds(*program.predictedSeconds), formatSeconds(program.linkSeconds),
                            secondsOr(program.exposedSeconds));
  stream << llvm::formatv("    {0,4} {1,-15} {2,-14} {3,9} {4,9} {5,9} {6,9}  {7,-11} {8,-23} {9}\n", "#", "op", "axes",
                          "bytes", "moved", "predicted", "exposed", "start..wait", "waits for", "tensors");
  // `waits for` uses the same numbers: the order of starts.
  for (auto [number, collective] : llvm::enumerate(program.collectives)) {
    std::string axes = "{" + llvm::join(collective.axes, ",") + "} x " + std::to_string(collective.ranks);
    std::string life = llvm::formatv("{0}..{1}", collective.start, collective.wait).str();
    stream << llvm::formatv("    {0,4} {1,-15} {2,-14} {3,9} {4,9} {5,9} {6,9}  {7,-11} {8,-23} {9}\n", number,
                            collective.op, axes, formatSize(collective.bytes), formatSize(collective.movedBytes),
                            secondsOr(collective.predictedSeconds), secondsOr(collective.exposedSeconds), life,
                            collective.waitsFor.empty() ? "-" : collective.waitsFor, contentOf(collective));
  }
}

/// Prints the bytes that the alternative accumulation of gradients would hold and move.
static void printAccumulators(llvm::raw_ostream &stream, const AccumulatorTraffic &accumulators) {
  stream << llvm::formatv("  gradients of microbatches are {0}: {1} held, {2} moved a step; {3}: {4} held, {5} moved\n",
                          accumulators.areSharded ? "reduced each time" : "added up unreduced",
                          formatSize(accumulators.heldBytes), formatSize(accumulators.movedBytes),
                          accumulators.areSharded ? "unreduced (--unreduced-accumulators)"
                                                  : "reduced each time (--zero=2)",
                          formatSize(accumulators.otherHeldBytes), formatSize(accumulators.otherMovedBytes));
}

void braid::printTraffic(llvm::raw_ostream &stream, const Traffic &traffic) {
  if (traffic.mesh.empty())
    return;
  auto axes = llvm::map_range(traffic.mesh,
                              [](const Traffic::Axis &axis) { return axis.name + "=" + std::to_string(axis.size); });
  stream << llvm::formatv("\nmesh {0}: {1} ranks; in a step of {2} {3} a rank moves {4} ({5} bytes)\n",
                          llvm::join(axes, ","), traffic.ranks, traffic.microbatches,
                          traffic.microbatches == 1 ? "microbatch" : "microbatches", formatSize(traffic.movedBytes),
                          traffic.movedBytes);
  if (traffic.predictedSeconds)
    stream << llvm::formatv("  predicted: step {0}, link {1}, exposed {2}\n", formatSeconds(*traffic.predictedSeconds),
                            formatSeconds(traffic.linkSeconds), secondsOr(traffic.exposedSeconds));
  if (traffic.accumulators)
    printAccumulators(stream, *traffic.accumulators);
  for (const ProgramTraffic &program : traffic.programs)
    printProgram(stream, program);
}
