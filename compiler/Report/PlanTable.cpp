//===- PlanTable.cpp - the memory plan as tables --------------------------===//

#include "compiler/Report/Report.h"
#include "lib/Memory/Size.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace braid;

/// Most lines of a table.
static constexpr size_t kRows = 12;

static std::string life(const PlanTensor &tensor) {
  return tensor.persistent ? "always" : llvm::formatv("{0}..{1}", tensor.first, tensor.last).str();
}

/// Prints the largest of `tensors`, and one line for the rest.
static void printTensors(llvm::raw_ostream &stream, std::vector<const PlanTensor *> tensors) {
  llvm::stable_sort(tensors, [](const PlanTensor *a, const PlanTensor *b) { return a->bytes > b->bytes; });
  int64_t rest = 0;
  for (auto [row, tensor] : llvm::enumerate(tensors)) {
    if (row >= kRows)
      rest += tensor->bytes;
    else
      stream << llvm::formatv("    {0,9}  at {1,12}  live {2,-12} {3,-16} {4}\n", formatSize(tensor->bytes),
                              tensor->offset, life(*tensor), exec::stringifyCategory(tensor->category), tensor->name);
  }
  if (tensors.size() > kRows)
    stream << llvm::formatv("    {0,9}  in {1} more\n", formatSize(rest), tensors.size() - kRows);
}

/// Prints bytes by category. The bytes at the program's peak add up to the lower bound.
static void printCategories(llvm::raw_ostream &stream, const ProgramPlan &program) {
  stream << "  by category (each at its own peak, and at the program's)\n";
  for (auto [category, atPeak] : llvm::zip_equal(program.byCategory, program.atPeak))
    if (category.bytes > 0)
      stream << llvm::formatv("    {0,-16} {1,9} {2,14} bytes, {3,14} at the peak\n",
                              exec::stringifyCategory(category.category), formatSize(category.bytes), category.bytes,
                              atPeak.bytes);
}

static void printWaitingGradients(llvm::raw_ostream &stream, const ProgramPlan &program) {
  if (program.waitingGradientBytes == 0)
    return;
  stream << llvm::formatv("  gradients that wait for their updates cost {0} ({1} bytes) of the lower bound{2}\n",
                          formatSize(program.waitingGradientBytes), program.waitingGradientBytes,
                          program.waitsForNorm ? ": clipping needs the norm of all" : "");
}

static void printProgram(llvm::raw_ostream &stream, const ProgramPlan &program) {
  std::vector<const PlanTensor *> persistent, transient;
  int64_t persistentBytes = 0;
  for (const PlanTensor &tensor : program.tensors) {
    (tensor.persistent ? persistent : transient).push_back(&tensor);
    persistentBytes += tensor.persistent ? tensor.bytes : 0;
  }
  double ratio = program.lowerBoundBytes ? double(program.arenaBytes) / program.lowerBoundBytes : 1;
  stream << llvm::formatv("\nprogram {0}: {1} ({2} bytes), {3} actions\n", program.name, formatSize(program.arenaBytes),
                          program.arenaBytes, program.numActions);
  stream << llvm::formatv("  persistent {0} in {1} tensors, transient {2} in {3} buffers\n",
                          formatSize(persistentBytes), persistent.size(),
                          formatSize(program.arenaBytes - persistentBytes), transient.size());
  stream << llvm::formatv("  lower bound {0} ({1} bytes), ratio ", formatSize(program.lowerBoundBytes),
                          program.lowerBoundBytes)
         << llvm::format("%.4f\n", ratio);
  if (program.paddingBytes > 0)
    stream << llvm::formatv("  of which padding {0}, between rows that begin aligned\n", program.paddingBytes);
  printCategories(stream, program);
  printWaitingGradients(stream, program);
  stream << llvm::formatv("  peak at action {0}, {1}; live there, beside what is persistent:\n", program.peakAction,
                          program.peakOp);
  std::vector<const PlanTensor *> live = program.liveAtPeak();
  llvm::erase_if(live, [](const PlanTensor *tensor) { return tensor->persistent; });
  printTensors(stream, live);
  stream << "  largest transient tensors:\n";
  printTensors(stream, transient);
}

void braid::printPlan(llvm::raw_ostream &stream, const MemoryPlan &plan) {
  stream << llvm::formatv("memory plan: peak {0} ({1} bytes), which is the arena\n", formatSize(plan.arenaBytes),
                          plan.arenaBytes);
  for (const PersistentBytes &held : plan.persistent)
    stream << llvm::formatv("  persistent {0,-16} {1,9} {2,14} bytes, of which padding {3}\n",
                            exec::stringifyCategory(held.category), formatSize(held.bytes), held.bytes,
                            held.paddingBytes);
  if (plan.hostBytes > 0)
    stream << llvm::formatv("  in pinned memory of the host, beside the arena: {0} ({1} bytes) in {2} tensors\n",
                            formatSize(plan.hostBytes), plan.hostBytes,
                            plan.onHost.size() + plan.largest().onHost.size());
  for (const KindPlan &kind : plan.kinds) {
    int64_t persistent = 0;
    for (const PersistentBytes &held : kind.persistent)
      persistent += held.bytes;
    stream << llvm::formatv("  ranks with {0} = {1}: an arena of {2} bytes, of which {3} persistent\n", kind.axis,
                            llvm::make_range(kind.coordinates.begin(), kind.coordinates.end()), kind.arenaBytes,
                            persistent);
    if (kind.hostBytes > 0)
      stream << llvm::formatv("    and {0} bytes in pinned memory of the host\n", kind.hostBytes);
  }
  stream << "largest persistent tensors:\n";
  std::vector<const PlanTensor *> persistent;
  for (const PlanTensor &tensor : plan.largest().tensors)
    if (tensor.persistent)
      persistent.push_back(&tensor);
  printTensors(stream, persistent);
  for (const ProgramPlan &program : plan.programs)
    printProgram(stream, program);
}
