//===- HostCopies.cpp - copies between a device and its host --------------===//

#include "dialects/Comm/Comm.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

void CopyOp::build(OpBuilder &builder, OperationState &state, ValueRange ins, Memory to) {
  build(builder, state, ins.getTypes(), ins, /*outs=*/ValueRange(), to);
}

LogicalResult CopyOp::verify() {
  auto isReference = [](Type type) { return isa<exec::RefType>(type); };
  TypeRange ins = getIns().getTypes(), outs = getOuts().getTypes(), results = getResultTypes();
  bool inMemory = !outs.empty();
  // copy_c1
  if (inMemory ? !results.empty() || !llvm::all_of(ins, isReference) : llvm::any_of(ins, isReference))
    return emitOpError() << "copies tensors to results, or references to outs, and not both; it has " << ins.size()
                         << " operands, " << results.size() << " results and " << outs.size() << " outs";
  // copy_c2
  TypeRange copies = inMemory ? outs : results;
  if (ins.empty() || ins.size() != copies.size())
    return emitOpError() << "has " << ins.size() << " operands and " << copies.size()
                         << (inMemory ? " outs" : " results")
                         << "; it needs at least one operand, and as many copies as operands";
  for (auto [index, in, copy] : llvm::enumerate(ins, copies))
    if (exec::tensorOf(in) != exec::tensorOf(copy))
      return emitOpError() << "copies operand " << index << ", a " << exec::tensorOf(in) << ", to a "
                           << exec::tensorOf(copy);
  return success();
}

OperandRange CopyOp::getActionIns() { return getIns(); }
OperandRange CopyOp::getActionOuts() { return getOuts(); }
std::string CopyOp::getActionName() { return getTo() == Memory::Host ? "copy_to_host" : "copy_from_host"; }
bool CopyOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return false; }
Queue CopyOp::getQueue() { return getTo() == Memory::Host ? Queue::ToHost : Queue::FromHost; }

/// A copy whose results belong to a ticket has an effect, because nothing reads its own results.
void CopyOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  exec::collectEffects(*this, effects);
  if (isa_and_present<StartOp>((*this)->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

std::optional<Queue> comm::queueOf(Operation *action) {
  auto start = dyn_cast<StartOp>(action);
  auto work = start ? start.getWork() : dyn_cast<QueuedOpInterface>(action);
  return work ? std::optional(work.getQueue()) : std::nullopt;
}

CopyOp comm::copyOf(Operation *action) {
  if (auto wait = dyn_cast_or_null<WaitOp>(action))
    action = wait.getStart();
  if (auto start = dyn_cast_or_null<StartOp>(action))
    action = start.getWork();
  return dyn_cast_or_null<CopyOp>(action);
}
