//===- Plan.h - numbers of a module in memory form --------------*- C++ -*-===//
//
// The numbers of a planned module for the report, the memory limit and tools.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PLAN_H
#define BRAID_LIB_MEMORY_PLAN_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Returns whether the ranks of a program hold a persistent tensor while it runs.
bool isHeldBy(exec::TensorOp tensor, exec::ProgramOp program);

struct PlanTensor {
  std::string name;
  exec::Category category;
  int64_t bytes, offset;
  /// First and last action, as in `exec.buffer`; a persistent tensor lives from -1 to the number of actions.
  int64_t first, last;
  bool persistent;
  /// Bytes among `bytes` that pad rows.
  int64_t paddingBytes = 0;
  /// Symbol in the module.
  std::string symbol = {};
};

struct CategoryBytes {
  exec::Category category;
  int64_t bytes;
};

/// Bytes held across steps, and the bytes among them that belong to no tensor: the ends
/// of flat shards, and gaps for the alignment.
struct PersistentBytes {
  exec::Category category;
  int64_t bytes, paddingBytes;
};

/// Memory of ranks that run programs of their own: those with some coordinates along an axis of the mesh.
struct KindPlan {
  std::string axis;
  std::vector<int64_t> coordinates;
  /// Maximum over their programs.
  int64_t arenaBytes = 0;
  /// Bytes on the host, as in MemoryPlan.
  int64_t hostBytes = 0;
  std::vector<PersistentBytes> persistent;
};

struct ProgramPlan {
  std::string name;
  /// Highest end: the bytes of the arena that the program needs.
  int64_t arenaBytes = 0;
  /// Peak of live bytes, including persistent ones, and the action at that time (-1: before the first).
  int64_t lowerBoundBytes = 0;
  int64_t peakAction = -1;
  std::string peakOp;
  int64_t numActions = 0;
  /// Persistent tensors first, then transient ones in the order of their lives; excludes tensors in the host's memory.
  std::vector<PlanTensor> tensors;
  /// Transient tensors in the host's memory.
  std::vector<PlanTensor> onHost = {};
  /// Bytes that pad rows of the tensors that are live at the peak.
  int64_t paddingBytes = 0;
  /// Peak of live bytes of each category, and bytes of each category at the common peak, whose sum is the lower bound.
  std::vector<CategoryBytes> byCategory, atPeak;
  /// Reduction of the lower bound if each gradient died with the first action after its last use
  /// in the backward pass; and whether updates wait for the norm of all gradients.
  int64_t waitingGradientBytes = 0;
  bool waitsForNorm = false;

  /// Returns the tensors that are live at the peak, the largest first.
  std::vector<const PlanTensor *> liveAtPeak() const;
};

struct MemoryPlan {
  /// Maximum over programs.
  int64_t arenaBytes = 0;
  std::vector<ProgramPlan> programs;
  /// Categories with any bytes, on the ranks of the largest program.
  std::vector<PersistentBytes> persistent;
  /// Bytes on the host of the same ranks, beside the arena: the end of the last tensor or buffer of their programs.
  int64_t hostBytes = 0;
  /// Persistent tensors in the host's memory.
  std::vector<PlanTensor> onHost;
  /// Kinds of ranks, in the order of their first programs; empty if all ranks run the same programs.
  std::vector<KindPlan> kinds;

  /// Returns the first program that needs the whole arena.
  const ProgramPlan &largest() const;
};

/// Reads a module in memory form with at least one program. Sizes in sums are padded to `alignment`, as in the arena.
MemoryPlan readPlan(mlir::ModuleOp module, int64_t alignment);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PLAN_H
