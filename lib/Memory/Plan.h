//===- Plan.h - a module in memory form, as numbers -------------*- C++ -*-===//
//
// What the report, the memory limit and tools ask of a planned module.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PLAN_H
#define BRAID_LIB_MEMORY_PLAN_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Whether the ranks of a program hold a persistent tensor while it runs.
bool isHeldBy(exec::TensorOp tensor, exec::ProgramOp program);

struct PlanTensor {
  std::string name;
  exec::Category category;
  int64_t bytes, offset;
  /// Actions, as in `exec.buffer`; a persistent tensor lives from -1 to the
  /// number of actions.
  int64_t first, last;
  bool persistent;
  /// How many of `bytes` pad rows.
  int64_t paddingBytes = 0;
  /// Its name in the module.
  std::string symbol = {};
};

struct CategoryBytes {
  exec::Category category;
  int64_t bytes;
};

/// The bytes held across steps, and how many of them belong to no tensor: the ends of
/// flat shards, and gaps to the alignment.
struct PersistentBytes {
  exec::Category category;
  int64_t bytes, paddingBytes;
};

/// What ranks that run programs of their own need: those with some coordinates along an
/// axis of the mesh.
struct KindPlan {
  std::string axis;
  std::vector<int64_t> coordinates;
  /// The maximum over their programs.
  int64_t arenaBytes = 0;
  /// As of MemoryPlan.
  int64_t hostBytes = 0;
  std::vector<PersistentBytes> persistent;
};

struct ProgramPlan {
  std::string name;
  /// The highest end; what the program needs of the arena.
  int64_t arenaBytes = 0;
  /// The most bytes that are live at one time, persistent ones included, and the
  /// action at that time (-1: before the first).
  int64_t lowerBoundBytes = 0;
  int64_t peakAction = -1;
  std::string peakOp;
  int64_t numActions = 0;
  /// Persistent tensors first, then transient ones in the order of their lives; those in the host's
  /// memory are not among them.
  std::vector<PlanTensor> tensors;
  /// Transient ones in the host's memory.
  std::vector<PlanTensor> onHost = {};
  /// The bytes that pad rows of the tensors that are live at that time.
  int64_t paddingBytes = 0;
  /// The most live bytes of each category, and those at the peak, which are the lower bound
  /// together.
  std::vector<CategoryBytes> byCategory, atPeak;
  /// How much smaller the lower bound would be if each gradient died with the first action behind
  /// its last use in backward; and whether updates wait for the norm of all gradients.
  int64_t waitingGradientBytes = 0;
  bool waitsForNorm = false;

  /// The tensors that are live at the peak, the largest first.
  std::vector<const PlanTensor *> liveAtPeak() const;
};

struct MemoryPlan {
  /// The maximum over programs.
  int64_t arenaBytes = 0;
  std::vector<ProgramPlan> programs;
  /// Of the categories that hold any, on the ranks of the largest program.
  std::vector<PersistentBytes> persistent;
  /// What the same ranks have in the host's memory beside the arena: the end of the last tensor or
  /// buffer of their programs.
  int64_t hostBytes = 0;
  /// The persistent ones.
  std::vector<PlanTensor> onHost;
  /// In the order of their first programs; none where all ranks run the same.
  std::vector<KindPlan> kinds;

  /// The program that needs the whole arena; the first of them.
  const ProgramPlan &largest() const;
};

/// Reads a module in memory form with at least one program; sizes in sums are
/// padded to `alignment`, as in the arena.
MemoryPlan readPlan(mlir::ModuleOp module, int64_t alignment);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLAN_H
