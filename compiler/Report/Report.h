//===- Report.h - reports of a compiled step --------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_REPORT_H
#define BRAID_COMPILER_REPORT_REPORT_H

#include "compiler/Report/HostCopies.h"
#include "compiler/Report/Kept.h"
#include "compiler/Report/Pipeline.h"
#include "compiler/Report/Replays.h"
#include "compiler/Report/Traffic.h"
#include "lib/Memory/Plan.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

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
