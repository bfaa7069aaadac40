//===- Report.h - the memory plan for people and for machines ---*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_REPORT_H
#define BRAID_LIB_MEMORY_REPORT_H

#include "lib/Memory/Plan.h"

namespace braid {

/// How long a phase of the compiler took.
struct PhaseSeconds {
  std::string phase;
  double seconds;
};

/// `plan.json`: the keys of the largest program on top, every program under
/// `programs`.  Bytes and seconds.  Ends in a newline.
std::string planJson(const MemoryPlan &plan, llvm::ArrayRef<PhaseSeconds> phases);

/// Tables: by program and cause, what is live at the peak, and the largest
/// persistent and transient tensors.
void printPlan(llvm::raw_ostream &stream, const MemoryPlan &plan);

} // namespace braid

#endif // BRAID_LIB_MEMORY_REPORT_H
