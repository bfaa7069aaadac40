//===- PlanMemory.cpp - assign memory to every value ----------------------===//
//
// Combines the parts of lib/Memory: buffer assignment (BufferAssignment), the placement problem of sizes and live
// ranges with its solution and verification (Placement), and the memory form (Emit).
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "lib/Memory/Categories.h"
#include "lib/Memory/Emit.h"
#include "lib/Memory/LeadingDimPadding.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Placement.h"
#include "lib/Memory/Plan.h"
#include "lib/Memory/RecordReads.h"
#include "lib/Memory/RecordedAssignment.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Arena/Passes.h"

using namespace mlir;
using namespace braid;

/// Returns the buffers of a program, without offsets.
static PlannedProgram makeBuffers(func::FuncOp program, const Places &places, const PersistentTensors &tensors,
                                  int64_t workspace, const TargetInfo &target) {
  PlannedProgram plan{places, {}, {}, 0};
  // References use one namespace for buffers and persistent tensors.
  auto symbol = [&](std::string name) {
    while (tensors.byName.contains(name))
      name += "_";
    return name;
  };
  int64_t first = -1, last = -1;
  for (auto [index, action] : llvm::enumerate(places.actions))
    if (exec::ActionOpInterface(action).getWorkspaceBytes(target.workspace) > 0) {
      first = first < 0 ? index : first;
      last = index;
    }
  if (first >= 0)
    plan.buffers.push_back(
        {symbol("workspace"), 0, workspace, first, last, exec::Category::Workspace, "workspace", /*isScratch=*/true});
  for (auto [storage, category] : llvm::zip(places.storages, transientCategories(program, places))) {
    bool persistent = storage.kind == Storage::Kind::Persistent;
    bool unused = storage.kind == Storage::Kind::Transient && !storage.writer;
    plan.bufferOf.push_back(persistent || unused ? -1 : plan.buffers.size());
    if (plan.bufferOf.back() < 0)
      continue;
    plan.buffers.push_back({symbol("b" + std::to_string(plan.bufferOf.back())), 0, storage.bytes, storage.first,
                            storage.last, *category, storage.name, /*isScratch=*/false, storage.paddingBytes,
                            storage.isOnHost});
  }
  return plan;
}

/// Returns the placement problem of the buffers in device or host memory.
static PlacementProblem problemOf(PlannedProgram &plan, bool onHost, const TargetInfo &target,
                                  SmallVectorImpl<PlannedBuffer *> &placed) {
  PlacementProblem problem;
  problem.alignment = target.alignment;
  for (PlannedBuffer &buffer : plan.buffers) {
    if (buffer.isOnHost != onHost)
      continue;
    PlacementBuffer entry{buffer.bytes, buffer.first, buffer.last, {}};
    if (buffer.isScratch)
      entry.fixed = 0;
    problem.buffers.push_back(entry);
    placed.push_back(&buffer);
  }
  return problem;
}

/// Assigns offsets in device or host memory, above the persistent tensors, which end at `base`. Returns the end of all
/// buffers.
static FailureOr<int64_t> place(func::FuncOp program, PlannedProgram &plan, bool onHost, int64_t base,
                                const TargetInfo &target) {
  SmallVector<PlannedBuffer *> placed;
  PlacementProblem problem = problemOf(plan, onHost, target, placed);
  if (llvm::Error error = check(problem))
    return program.emitError() << "placing buffers: " << llvm::toString(std::move(error));
  int64_t live = base + liveBound(problem).bytes;
  if (std::optional<int64_t> scheduled = recordedLiveBytes(program); !onHost && scheduled && *scheduled != live)
    return program.emitError()
           << "was scheduled for " << *scheduled << " live bytes, but its plan has " << live
           << "; schedule and plan the program for one target, with the same programs in the module";
  Placement placement = solve(problem);
  if (llvm::Error error = verify(problem, placement))
    return program.emitError() << "placing buffers: " << llvm::toString(std::move(error));
  for (auto [buffer, offset] : llvm::zip_equal(placed, placement.offsets))
    buffer->offset = base + offset;
  return base + placement.bytes;
}

/// Reports an error with the largest tensors if the plan exceeds the memory limit.
static LogicalResult checkLimit(ModuleOp module, int64_t limit, const TargetInfo &target) {
  MemoryPlan plan = readPlan(module, target.alignment);
  if (plan.programs.empty() || plan.arenaBytes <= limit)
    return success();
  const ProgramPlan &largest = plan.largest();
  auto size = [](int64_t bytes) { return formatSize(bytes) + " (" + std::to_string(bytes) + " bytes)"; };
  InFlightDiagnostic diagnostic = emitError(module.getLoc());
  diagnostic << "the plan needs " << size(plan.arenaBytes) << " but the memory limit is " << size(limit)
             << ", and no smaller plan was found: " << size(largest.lowerBoundBytes) << " are live at one time";
  std::vector<CategoryBytes> categories = largest.byCategory;
  llvm::stable_sort(categories, [](const CategoryBytes &a, const CategoryBytes &b) { return a.bytes > b.bytes; });
  categories.resize(3);
  Diagnostic &byCategory = diagnostic.attachNote();
  byCategory << "most of program '" << largest.name << "' is ";
  llvm::interleaveComma(categories, byCategory, [&](const CategoryBytes &c) {
    byCategory << exec::stringifyCategory(c.category) << " " << formatSize(c.bytes);
  });
  std::vector<const PlanTensor *> live = largest.liveAtPeak();
  live.resize(std::min<size_t>(live.size(), 3));
  Diagnostic &byTensor = diagnostic.attachNote();
  byTensor << "the largest tensors at the peak (" << largest.peakOp << ") are ";
  llvm::interleaveComma(live, byTensor,
                        [&](const PlanTensor *t) { byTensor << t->name << " " << formatSize(t->bytes); });
  diagnostic.attachNote() << "raise the limit, make the batch or its microbatches smaller (--accumulate), or shard the "
                             "model over more ranks (--zero, or tp in --mesh)";
  return diagnostic;
}

namespace {
struct PlanMemory : braid::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  LogicalResult plan(const TargetInfo &info, int64_t rowAlignment) {
    ModuleOp module = getOperation();
    auto programs = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp program : programs)
      if (!program.getBody().hasOneBlock())
        return program.emitOpError() << "cannot be planned: a program must have one block";
    auto tensors = PersistentTensors::collect(programs, info.alignment, rowAlignment);
    if (failed(tensors))
      return failure();
    std::vector<Places> places;
    for (func::FuncOp program : programs) {
      auto placed = assignBuffers(program, rowAlignment);
      if (failed(placed))
        return failure();
      places.push_back(std::move(*placed));
    }
    int64_t workspace = 0;
    for (const Places &placed : places)
      workspace = std::max(workspace, workspaceBytes(placed.actions, info));

    OpBuilder builder(module.getBodyRegion());
    llvm::StringMap<std::string> symbols = emitTensors(builder, module, *tensors);
    for (auto [program, placed] : llvm::zip(programs, places)) {
      PlannedProgram planned = makeBuffers(program, placed, *tensors, workspace, info);
      FailureOr<int64_t> arena =
          place(program, planned, /*onHost=*/false, tensors->bytesBelow(program, info.alignment), info);
      if (failed(arena) ||
          failed(place(program, planned, /*onHost=*/true, tensors->hostBytesBelow(program, info.alignment), info)))
        return failure();
      planned.arenaBytes = *arena;
      builder.setInsertionPoint(program);
      exec::ProgramReads reads = readsOf(program);
      exec::ProgramOp emitted = emitProgram(builder, program, planned, symbols);
      emitted->setAttr(exec::kReads, exec::encodeReads(&getContext(), reads));
      program.erase();
    }
    return success();
  }

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info)
      return signalPassFailure();
    FailureOr<std::optional<int64_t>> limit = memoryLimitOf(memoryLimit, getOperation().getLoc());
    FailureOr<int64_t> padded = rowAlignmentOf(rowAlignment, *info, getOperation().getLoc());
    if (failed(limit) || failed(padded) || failed(plan(*info, *padded)) ||
        (*limit && failed(checkLimit(getOperation(), **limit, *info))))
      signalPassFailure();
  }
};
} // namespace
