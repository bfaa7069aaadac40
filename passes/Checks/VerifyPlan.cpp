//===- VerifyPlan.cpp - check a module in memory form ---------------------===//
//
// Independent of the planner: it reads only the ops, and the reads of the value form (`exec.reads`).
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Exec/Exec.h"
#include "lib/Memory/Plan.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Checks/Passes.h"
#include "passes/Checks/WriteTracker.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {

class ProgramVerifier {
public:
  ProgramVerifier(ModuleOp module, ProgramOp program, int64_t alignment)
      : module(module), program(program), body(program.getBody().front()), alignment(alignment) {}
  LogicalResult run();

private:
  void collect();
  LogicalResult verifyRange(const ArenaRange &range);
  LogicalResult verifyOverlaps(bool onHost);
  LogicalResult resolveReferences();
  LogicalResult verifyOperands();
  LogicalResult verifyAction(ActionOpInterface action, int64_t time);
  LogicalResult verifyMemories(ActionOpInterface action);
  LogicalResult verifyStrides(ActionOpInterface action);
  LogicalResult verifyAliases(ActionOpInterface action);
  LogicalResult verifyInFlight(ActionOpInterface action);
  LogicalResult emitConflict(ActionOpInterface action, StringRef verb, Value ref, ActionOpInterface begun,
                             StringRef begunVerb);
  LogicalResult verifyLife(ActionOpInterface action, const RangeAccess &access, int64_t time);
  LogicalResult verifyResults();

  ModuleOp module;
  ProgramOp program;
  Block &body;
  int64_t alignment;
  int64_t numActions = 0;
  llvm::MapVector<StringRef, ArenaRange> ranges;
  WriteTracker::Accesses accesses;
  WriteTracker tracker{program, accesses};
  /// Actions that have begun and not ended.
  llvm::SetVector<Operation *> inFlight;
};

} // namespace

static int64_t zeroBytesOf(TensorOp tensor) {
  int64_t values = RefType::contiguous(cast<RankedTensorType>(tensor.getType())).getSpanBytes();
  return std::max<int64_t>(0, static_cast<int64_t>(tensor.getBytes()) - values);
}

void ProgramVerifier::collect() {
  numActions = llvm::range_size(body.getOps<ActionOpInterface>());
  for (auto buffer : body.getOps<BufferOp>())
    ranges.insert({buffer.getSymName(),
                   {buffer, buffer.getSymName(), static_cast<int64_t>(buffer.getOffset()),
                    static_cast<int64_t>(buffer.getBytes()), static_cast<int64_t>(buffer.getFirst()),
                    static_cast<int64_t>(buffer.getLast()), static_cast<int64_t>(buffer.getPadding().value_or(0)),
                    /*zeros=*/0, buffer.getHost()}});
  DenseSet<StringAttr> packed;
  for (auto pack : module.getOps<PackOp>()) {
    auto members = pack.getTensors().getAsRange<FlatSymbolRefAttr>();
    for (auto tensor : members)
      packed.insert(tensor.getAttr());
    auto first = module.lookupSymbol<TensorOp>(*members.begin());
    if (!first || !isHeldBy(first, program))
      continue; // other ranks hold it
    ranges.insert(
        {pack.getSymName(), {pack, pack.getSymName(), pack.getBegin(), pack.getSize(), -1, numActions, 0, 0}});
  }
  llvm::SmallDenseSet<StringAttr> slotsHeld;
  for (auto tensor : module.getOps<TensorOp>()) {
    if (!isHeldBy(tensor, program))
      continue;
    if (tensor.getSlotsAttr())
      slotsHeld.insert(tensor.getSlotsAttr().getAttr());
    if (!packed.contains(tensor.getSymNameAttr()))
      ranges.insert(
          {tensor.getSymName(),
           {tensor, tensor.getSymName(), static_cast<int64_t>(tensor.getOffset()),
            static_cast<int64_t>(tensor.getBytes()), -1, numActions, 0, zeroBytesOf(tensor), tensor.getHost()}});
  }
  // The other slots hold other microbatches.
  for (auto slots : module.getOps<SlotsOp>())
    if (slotsHeld.contains(slots.getSymNameAttr())) {
      int64_t bytes = *slots.getBytes(), others = (slots.getCount() - 1) * bytes;
      ranges.insert({slots.getSymName(),
                     {slots, slots.getSymName(), static_cast<int64_t>(*slots.getOffset()) + bytes, others, -1,
                      numActions, 0, 0}});
    }
}

LogicalResult ProgramVerifier::verifyRange(const ArenaRange &range) {
  if (range.offset < 0 || range.offset % alignment != 0)
    return range.op->emitOpError() << "'" << range.name << "' is at " << range.offset << ", which is not a multiple of "
                                   << alignment;
  if (range.padding < 0 || range.padding > range.bytes)
    return range.op->emitOpError() << "'" << range.name << "' has " << range.padding << " bytes of padding in "
                                   << range.bytes;
  int64_t arena = program.getArenaBytes();
  if (!range.isOnHost && range.end() > arena)
    return range.op->emitOpError() << "'" << range.name << "' ends at " << range.end() << " but the arena of '"
                                   << program.getSymName() << "' has " << arena << " bytes";
  if (range.first < -1 || range.last > numActions || range.first > range.last)
    return range.op->emitOpError() << "'" << range.name << "' lives from " << range.first << " to " << range.last
                                   << " in a program of " << numActions << " actions";
  return success();
}

/// Walks over time, with the live ranges of a memory in a map by offset.
LogicalResult ProgramVerifier::verifyOverlaps(bool onHost) {
  std::vector<const ArenaRange *> byFirst;
  for (auto &[name, range] : ranges)
    if (range.bytes > 0 && range.isOnHost == onHost)
      byFirst.push_back(&range);
  std::vector<const ArenaRange *> byLast = byFirst;
  llvm::stable_sort(byFirst, [](const ArenaRange *a, const ArenaRange *b) { return a->first < b->first; });
  llvm::stable_sort(byLast, [](const ArenaRange *a, const ArenaRange *b) { return a->last < b->last; });
  std::map<int64_t, const ArenaRange *> live;
  auto dying = byLast.begin();
  for (const ArenaRange *range : byFirst) {
    for (; (*dying)->last < range->first; ++dying)
      live.erase((*dying)->offset);
    auto above = live.lower_bound(range->offset);
    const ArenaRange *clash = nullptr;
    if (above != live.end() && above->first < range->end())
      clash = above->second;
    else if (above != live.begin() && std::prev(above)->second->end() > range->offset)
      clash = std::prev(above)->second;
    if (clash) {
      InFlightDiagnostic diagnostic = range->op->emitOpError();
      diagnostic << "'" << range->name << "' at " << range->offset << " to " << range->end() << " overlaps '"
                 << clash->name << "' at " << clash->offset << " to " << clash->end() << " while both are live";
      diagnostic.attachNote(clash->op->getLoc()) << "the other range";
      return diagnostic;
    }
    live[range->offset] = range;
  }
  return success();
}

LogicalResult ProgramVerifier::verifyOperands() {
  for (auto action : body.getOps<ActionOpInterface>())
    for (OperandRange refs : {action.getActionIns(), action.getActionOuts()})
      for (Value ref : refs)
        if (!accesses.contains(ref))
          return action.emitOpError() << "has an operand that is not an exec.ref of this program";
  return success();
}

LogicalResult ProgramVerifier::resolveReferences() {
  for (auto ref : body.getOps<RefOp>()) {
    auto found = ranges.find(ref.getBuffer());
    if (found == ranges.end())
      return ref.emitOpError() << "to '" << ref.getBuffer()
                               << "', which is not an exec.buffer or exec.tensor of these ranks";
    RefType type = ref.getType();
    if (failed(RefType::verify([&] { return ref.emitOpError(); }, type.getShape(), type.getElementType(),
                               type.getStrides())))
      return failure();
    ByteRanges bytes(type, ref.getOffset());
    if (bytes.offset < 0 || bytes.end() > found->second.bytes)
      return ref.emitOpError() << "covers bytes " << bytes.offset << " to " << bytes.end() << " of '" << found->first
                               << "', which has " << found->second.bytes;
    accesses.insert({ref.getResult(), {&found->second, type, bytes}});
  }
  return success();
}

LogicalResult ProgramVerifier::verifyLife(ActionOpInterface action, const RangeAccess &access, int64_t time) {
  if (access.range->first <= time && time <= access.range->last)
    return success();
  InFlightDiagnostic diagnostic = action.emitOpError();
  diagnostic << "is action " << time << " but uses '" << access.range->name << "', which lives from "
             << access.range->first << " to " << access.range->last;
  diagnostic.attachNote(access.range->op->getLoc()) << "declared here";
  return diagnostic;
}

LogicalResult ProgramVerifier::verifyAliases(ActionOpInterface action) {
  DenseMap<ArenaRange *, SmallVector<unsigned>> insOf, outsOf;
  for (auto [index, in] : llvm::enumerate(action.getActionIns()))
    insOf[accesses.at(in).range].push_back(index);
  for (auto [index, out] : llvm::enumerate(action.getActionOuts())) {
    const RangeAccess &write = accesses.at(out);
    int64_t tied = action.getTiedIn(index);
    if (int64_t values = write.range->bytes - write.range->zeros; write.bytes.end() > values)
      return action.emitOpError() << "writes bytes " << write.bytes.offset << " to " << write.bytes.end() << " of '"
                                  << write.range->name << "', whose values end at byte " << values
                                  << "; zeros must stay behind the values";
    if (tied >= 0 && !accesses.at(action.getActionIns()[tied]).same(write))
      return action.emitOpError() << "must write out " << index << " where operand " << tied
                                  << " is, but their references differ";
    for (unsigned in : insOf.lookup(write.range)) {
      const RangeAccess &read = accesses.at(action.getActionIns()[in]);
      bool mayOverwrite = read.same(write) && (tied == in || action.mayWriteInPlace(index, in));
      if (!mayOverwrite && overlap(read.bytes, write.bytes))
        return action.emitOpError() << "writes out " << index << " over its operand " << in << " in '"
                                    << write.range->name << "', which it may not overwrite";
    }
    for (unsigned other : outsOf.lookup(write.range))
      if (overlap(accesses.at(action.getActionOuts()[other]).bytes, write.bytes))
        return action.emitOpError() << "writes outs " << other << " and " << index << " to the same bytes of '"
                                    << write.range->name << "'";
    outsOf[write.range].push_back(index);
  }
  return success();
}

/// Checks that copies connect the two memories, and that only copies touch host memory.
LogicalResult ProgramVerifier::verifyMemories(ActionOpInterface action) {
  std::optional<comm::Queue> queue = comm::queueOf(action);
  auto check = [&](OperandRange refs, StringRef verb, bool onHost) -> LogicalResult {
    for (Value ref : refs)
      if (const ArenaRange *range = accesses.at(ref).range; range->isOnHost != onHost)
        return action.emitOpError() << verb << " '" << range->name << "' in the memory of the "
                                    << (range->isOnHost ? "host" : "device")
                                    << (onHost ? "; a comm.copy must connect host and device memory"
                                               : "; only a comm.copy may access host memory");
    return success();
  };
  return failure(failed(check(action.getActionIns(), "reads", queue == comm::Queue::FromHost)) ||
                 failed(check(action.getActionOuts(), "writes", queue == comm::Queue::ToHost)));
}

LogicalResult ProgramVerifier::verifyStrides(ActionOpInterface action) {
  auto refuse = [&](const Twine &verb, RefType type) {
    return action.emitOpError() << verb << " as " << type << ", but needs contiguous memory";
  };
  for (auto [index, in] : llvm::enumerate(action.getActionIns()))
    if (RefType type = accesses.at(in).type; !type.isContiguous() && !action.mayReadStrided(index, type.getStrides()))
      return refuse("reads operand " + Twine(index), type);
  for (auto [index, out] : llvm::enumerate(action.getActionOuts()))
    if (RefType type = accesses.at(out).type; !type.isContiguous() && !action.mayWriteStrided(index, type.getStrides()))
      return refuse("writes out " + Twine(index), type);
  return success();
}

LogicalResult ProgramVerifier::emitConflict(ActionOpInterface action, StringRef verb, Value ref,
                                            ActionOpInterface begun, StringRef begunVerb) {
  InFlightDiagnostic diagnostic = action.emitOpError();
  diagnostic << verb << " '" << accesses.at(ref).range->name << "', which " << begun.getActionName() << " " << begunVerb
             << " until its wait";
  diagnostic.attachNote(begun->getLoc()) << "started here";
  return diagnostic;
}

/// An in-flight action may read its operands and write its outs at any time. So no other action may touch its outs or
/// write its operands.
LogicalResult ProgramVerifier::verifyInFlight(ActionOpInterface action) {
  auto meets = [&](Value a, Value b) {
    return accesses.at(a).range == accesses.at(b).range && overlap(accesses.at(a).bytes, accesses.at(b).bytes);
  };
  for (Operation *op : inFlight) {
    auto begun = cast<ActionOpInterface>(op);
    for (Value written : begun.getActionOuts()) {
      for (Value in : action.getActionIns())
        if (meets(in, written))
          return emitConflict(action, "reads", in, begun, "writes");
      for (Value out : action.getActionOuts())
        if (meets(out, written))
          return emitConflict(action, "writes", out, begun, "writes");
    }
    for (Value read : begun.getActionIns())
      for (Value out : action.getActionOuts())
        if (meets(out, read))
          return emitConflict(action, "writes", out, begun, "reads");
  }
  return success();
}

LogicalResult ProgramVerifier::verifyAction(ActionOpInterface action, int64_t time) {
  auto begun = cast<ActionOpInterface>(action.getActionBegin());
  for (OperandRange refs : {begun.getActionIns(), begun.getActionOuts()})
    for (Value ref : refs)
      if (failed(verifyLife(action, accesses.at(ref), time)))
        return failure();
  if (failed(verifyMemories(action)) || failed(verifyStrides(action)) || failed(verifyInFlight(action)))
    return failure();
  if (failed(tracker.read(action)) || failed(verifyAliases(action)))
    return failure();
  if (action.getActionEnd() != action) {
    inFlight.insert(action);
    return success();
  }
  inFlight.remove(begun);
  return tracker.write(begun);
}

LogicalResult ProgramVerifier::verifyResults() {
  for (auto &[name, range] : ranges) {
    auto buffer = dyn_cast<BufferOp>(range.op);
    if (!buffer || buffer.getIo() != "result")
      continue;
    auto type = dyn_cast<RankedTensorType>(buffer.getType().value_or(Type()));
    if (!type)
      return buffer.emitOpError() << "is a result without a tensor type";
    ByteRanges whole(RefType::contiguous(type), 0);
    if (whole.end() > range.bytes)
      return buffer.emitOpError() << "has " << range.bytes << " bytes for a " << type << " of " << whole.end();
    if (range.last != numActions)
      return buffer.emitOpError() << "is a result but dies at action " << range.last << " of " << numActions;
    if (int64_t byte = tracker.firstUnwritten(range, whole); byte >= 0)
      return buffer.emitOpError() << "is a result whose byte " << byte << " no action writes";
  }
  return success();
}

LogicalResult ProgramVerifier::run() {
  collect();
  for (auto &[name, range] : ranges)
    if (failed(verifyRange(range)))
      return failure();
  if (failed(verifyOverlaps(/*onHost=*/false)) || failed(verifyOverlaps(/*onHost=*/true)) ||
      failed(resolveReferences()) || failed(verifyOperands()))
    return failure();
  SmallVector<ArenaRange *> all;
  for (auto &[name, range] : ranges)
    all.push_back(&range);
  if (failed(tracker.start(all)))
    return failure();
  int64_t time = 0;
  for (auto action : body.getOps<ActionOpInterface>())
    if (failed(verifyAction(action, time++)))
      return failure();
  return failure(failed(verifyResults()) || failed(tracker.finish()));
}

/// Emits an error:
/// - if persistent tensors and buffers overlap, leave the arena or are not aligned;
/// - if an action other than a copy touches host memory, or an access is outside its buffer's live range;
/// - if bytes are read that nothing has written, or that hold another value than expected;
/// - if a value is overwritten before it is read;
/// - if an action overwrites its own operand without declaring it, or reads strided memory that it does not support;
/// - if the operands of an in-flight action are written, or its outs are touched, before its end.
static LogicalResult verifyPlan(ModuleOp module, int64_t alignment) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(ProgramVerifier(module, program, alignment).run()))
      return failure();
  return success();
}

namespace {
struct VerifyPlan : braid::impl::VerifyPlanBase<VerifyPlan> {
  using VerifyPlanBase::VerifyPlanBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info || failed(verifyPlan(getOperation(), info->alignment)))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      program->removeAttr(kReads);
    markAllAnalysesPreserved();
  }
};
} // namespace
