//===- AssignedCopy.cpp - buffer assignment of a program's copy -----------===//

#include "lib/Memory/AssignedCopy.h"
#include "lib/Memory/Lifetimes.h"

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

/// Attribute with the number of an action in the copied program. Pointers do not work,
/// because assignment erases ops and may create others at the same address.
static constexpr StringLiteral kNumber = "exec.number";

FailureOr<AssignedCopy> braid::copyAndAssign(func::FuncOp program, const TargetInfo &target) {
  SmallVector<ActionOpInterface> actions(program.getBody().front().getOps<ActionOpInterface>());
  Builder builder(program.getContext());
  for (auto [number, action] : llvm::enumerate(actions))
    action->setAttr(kNumber, builder.getI64IntegerAttr(number));
  AssignedCopy copy;
  copy.program = program.clone();
  for (ActionOpInterface action : actions)
    action->removeAttr(kNumber);
  // Symbols are looked up from the module.
  OpBuilder(program).insert(copy.program.get());
  FailureOr<Places> places = assignBuffers(*copy.program, /*rowAlignment=*/0);
  copy.program.get()->remove();
  if (failed(places))
    return failure();
  copy.places = std::move(*places);
  copy.buffers = liveBuffers(copy.places, workspaceBytes(copy.places.actions, target), target);
  for (ActionOpInterface action : copy.places.actions) {
    auto number = action->getAttrOfType<IntegerAttr>(kNumber);
    copy.originals.push_back(number ? actions[number.getInt()].getOperation() : nullptr);
  }
  return copy;
}

FailureOr<int64_t> braid::transientPeak(func::FuncOp program, const TargetInfo &target) {
  FailureOr<AssignedCopy> copy = copyAndAssign(program, target);
  if (failed(copy))
    return failure();
  std::vector<ActionSlots> slots;
  for (unsigned index = 0; index < copy->places.actions.size(); ++index)
    slots.push_back({index, index});
  return peakBytes(copy->buffers, slots);
}
