//===- Report.h - reports of a compiled step --------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_REPORT_H
#define BRAID_COMPILER_REPORT_REPORT_H

#include "compiler/Report/Replays.h"
#include "compiler/Report/Traffic.h"
#include "dialects/Exec/Exec.h"
#include "lib/Memory/Plan.h"
#include "lib/Target/TargetInfo.h"
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
  int64_t offloadedBytesAtPeak = 0;
};

/// Reads a module in memory form.
std::vector<HostCopyReport> readHostCopies(mlir::ModuleOp module);

/// Returns an entry for each program that has such activations.
std::vector<WaitingActivations> readWaitingActivations(const MemoryPlan &plan, llvm::ArrayRef<HostCopyReport> copies);

void printWaitingActivations(llvm::raw_ostream &stream, llvm::ArrayRef<WaitingActivations> waiting);
/// Prints a line for each direction and program, or nothing without copies.
void printHostCopies(llvm::raw_ostream &stream, llvm::ArrayRef<HostCopyReport> copies);

/// Costs of a stage. Seconds and bytes are for one microbatch.
struct StageReport {
  int64_t rank;      ///< Coordinate of the ranks of the stage.
  std::string units; ///< `h.0 to h.5`; empty if the module does not state units.
  double forwardSeconds = 0, backwardSeconds = 0;
  /// Bytes kept from forward to backward for a microbatch, and the number of microbatches kept at once.
  int64_t savedBytes = 0, slots = 0;
  /// Bytes sent to the next stage, and to the previous one; 0 if that stage is on the same rank.
  int64_t activationBytes = 0, gradientBytes = 0;
};

/// Costs of the ranks with one coordinate along the axis.
struct PipelineRankReport {
  int64_t arenaBytes = 0;
  /// Bytes that a rank sends and receives in a step.
  int64_t movedBytes = 0;
  /// Share of the table's time that the rank waits, and most stage microbatches that it holds.
  double idle = 0;
  int64_t held = 0;
};

struct PipelineReport {
  std::string axis;
  int64_t microbatches = 0;
  std::vector<StageReport> stages;
  std::vector<PipelineRankReport> ranks;
  /// Predicted seconds of the table, and of the table with the update after it. Messages are sent one after the other.
  double tableSeconds = 0, stepSeconds = 0;
  /// Idle share of all ranks' time in the table.
  double bubble = 0;
};

/// Returns none for a module without a pipeline.
std::optional<PipelineReport> readPipeline(mlir::ModuleOp module, const MemoryPlan &plan, const Traffic &traffic);

void printPipeline(llvm::raw_ostream &stream, const PipelineReport &report);

/// A tensor that forward computes and backward reads.
struct KeptValue {
  /// Name in the graph, or else the name of the action that computes it. An additional result of a call has a number:
  /// "attended#1" is the log-sum-exp of attention.
  std::string name;
  int64_t bytes;

  bool operator==(const KeptValue &other) const { return name == other.name && bytes == other.bytes; }
};

/// The kept values of equal units, grouped: equal layers are one entry.
struct UnitKeptValues {
  /// Units in the order of forward; the root unit is "".
  std::vector<std::string> units;
  /// Bytes of the largest tensor of such a unit that other units read in forward, such as the residual stream of a
  /// transformer (batch x sequence x width); 0 if there is none.
  int64_t passedOnBytes = 0;
  std::vector<KeptValue> values;

  int64_t bytes() const;
  /// Returns `bytes` as a multiple of the bytes that the unit passes on; 0 if it passes on nothing.
  double multipleOf(int64_t bytes) const { return passedOnBytes ? double(bytes) / passedOnBytes : 0; }
};

struct KeptReport {
  std::string program;
  std::vector<UnitKeptValues> units;

  int64_t bytes() const;
};

/// Reads a program in memory form. Lists the tensors that forward writes and that are still in the arena when the first
/// action of a later phase reads them. Leaves out inputs, parameters and states, which always exist, and tensors that
/// wait in the host's memory. Bytes do not include padding.
KeptReport readKept(exec::ProgramOp program);

/// Prints a table of each tensor with its bytes, also as a multiple of the bytes that a unit passes on, and the sum.
/// Prints nothing for a program that keeps nothing.
void printKept(llvm::raw_ostream &stream, const KeptReport &kept);

/// Seconds that a phase of the compiler took.
struct PhaseSeconds {
  std::string phase;
  double seconds;
};

/// How library calls of attention sum gradients, and the largest scratch memory of such a call in bytes.
struct AttentionSumsReport {
  exec::SumOrder order;
  int64_t workspaceBytes;
};

/// All facts that are reported about a module in memory form.
struct Report {
  MemoryPlan plan;
  Traffic traffic;
  /// Facts about library calls of attention; none without such calls.
  std::optional<AttentionSumsReport> attention = std::nullopt;
  /// Predicted seconds of a step. With several ranks, those of the schedule. For one rank, the sum of all computing
  /// actions and of the stalls for copies.
  double stepSeconds = 0;
  std::optional<PipelineReport> pipeline = std::nullopt;
  /// Kept values of each program that trains.
  std::vector<KeptReport> kept = {};
  /// Copies between the memories of host and device, in the order of programs and of starts.
  std::vector<HostCopyReport> copies = {};
  std::vector<WaitingActivations> waiting = {};
  /// Replays that --recompute=auto chose from; empty without it. Text of a module keeps only the JSON.
  std::vector<ReplayReport> replays = {};
  std::string replaysJson = {};
  /// Card that the plan is for; null on a CPU.
  const GpuInfo *card = nullptr;
};

/// Reads a module whose step has `microbatches` microbatches.
Report readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches);

/// Returns `plan.json`: at the top the keys of the largest program, under `programs` every program, and under `kinds`
/// the needs of each kind of ranks if ranks run different programs. Bytes and seconds are per rank. Ends in a
/// newline.
std::string planJson(const Report &report, llvm::ArrayRef<PhaseSeconds> phases);

/// Returns replays as JSON text, for `Report::replaysJson`; empty if there are none.
std::string replaysJson(llvm::ArrayRef<ReplayReport> points);

/// Returns `actions.json`: the actions of each program in order, with their operations, bytes, and seconds by the rates
/// of the target. Also has the shapes, parameters and data sheet that determine rates of a whole step.
/// `bench/roofline.py` reads it.
std::string actionsJson(mlir::ModuleOp module, const TargetInfo &target, int64_t microbatches);

/// Returns `plan.html`: a self-contained page that shows both under a title.
std::string planHtml(llvm::StringRef title, llvm::StringRef planJson, llvm::StringRef actionsJson);

/// Prints tables of bytes by program and category, of live tensors at the peak, and of the largest persistent and
/// transient tensors.
void printPlan(llvm::raw_ostream &stream, const MemoryPlan &plan);
/// Prints tables of collectives; nothing for one rank.
void printTraffic(llvm::raw_ostream &stream, const Traffic &traffic);
void printReport(llvm::raw_ostream &stream, const Report &report);

/// Returns "1.25 ms", "31.0 us": three digits.
std::string formatSeconds(double seconds);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_REPORT_H
