//===- Report.h - a compiled step for people and for machines ---*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_REPORT_H
#define BRAID_LIB_REPORT_REPORT_H

#include "lib/Memory/Plan.h"
#include "lib/Report/HostCopies.h"
#include "lib/Report/Kept.h"
#include "lib/Report/Pipeline.h"
#include "lib/Report/Replays.h"
#include "lib/Report/Traffic.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// How long a phase of the compiler took.
struct PhaseSeconds {
  std::string phase;
  double seconds;
};

/// How library calls of attention sum gradients, and the most scratch memory of one.
struct AttentionSumsReport {
  exec::SumOrder order;
  int64_t workspaceBytes;
};

/// What there is to say of a module in memory form.
struct Report {
  MemoryPlan plan;
  Traffic traffic;
  /// None without such calls.
  std::optional<AttentionSumsReport> attention = std::nullopt;
  /// A step, as predicted: by the schedule of ranks, or of one rank all that computes, one after the
  /// other, and what it stalls for copies.
  double stepSeconds = 0;
  std::optional<PipelineReport> pipeline = std::nullopt;
  /// Of each program that trains.
  std::vector<KeptReport> kept = {};
  /// Between the host's memory and the device's, in the order of programs and of starts.
  std::vector<HostCopyReport> copies = {};
  std::vector<WaitingActivations> waiting = {};
  /// The replays that --recompute=auto chose from; empty without it.  Text of a module keeps only the JSON.
  std::vector<ReplayReport> replays = {};
  std::string replaysJson = {};
};

/// Reads a module that makes a step of `microbatches`.
Report readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches);

/// `plan.json`: the keys of the largest program on top, every program under
/// `programs`, and under `kinds` what ranks that run programs of their own need.
/// Bytes and seconds, of one rank.  Ends in a newline.
std::string planJson(const Report &report, llvm::ArrayRef<PhaseSeconds> phases);

/// Replays as JSON text, for `Report::replaysJson`; empty for none.
std::string replaysJson(llvm::ArrayRef<ReplayReport> points);

/// `actions.json`: of each program the actions in their order, what each computes and moves,
/// and how long by the rates of the target; and the shapes, parameters and data sheet that
/// rates of a whole step are made of.  `bench/roofline.py` reads it.
std::string actionsJson(mlir::ModuleOp module, const TargetInfo &target, int64_t microbatches);

/// `plan.html`: one page that shows both under a title, without anything from elsewhere.
std::string planHtml(llvm::StringRef title, llvm::StringRef planJson, llvm::StringRef actionsJson);

/// Tables: by program and category, what is live at the peak, and the largest
/// persistent and transient tensors.
void printPlan(llvm::raw_ostream &stream, const MemoryPlan &plan);
/// The same of collectives; nothing for one rank.
void printTraffic(llvm::raw_ostream &stream, const Traffic &traffic);
void printReport(llvm::raw_ostream &stream, const Report &report);

/// "1.25 ms", "31.0 us": three digits.
std::string formatSeconds(double seconds);

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORT_H
