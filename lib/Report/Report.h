//===- Report.h - a compiled step for people and for machines ---*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_REPORT_H
#define BRAID_LIB_REPORT_REPORT_H

#include "lib/Memory/Plan.h"
#include "lib/Report/Traffic.h"

namespace braid {

/// How long a phase of the compiler took.
struct PhaseSeconds {
  std::string phase;
  double seconds;
};

/// What there is to say of a module in memory form.
struct Report {
  MemoryPlan plan;
  Traffic traffic;
};

/// Reads a module that makes a step of `microbatches`.
Report readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches);

/// `plan.json`: the keys of the largest program on top, every program under
/// `programs`, and under `kinds` what ranks that run programs of their own need.
/// Bytes and seconds, of one rank.  Ends in a newline.
std::string planJson(const Report &report, llvm::ArrayRef<PhaseSeconds> phases);

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
