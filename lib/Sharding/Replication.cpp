//===- Replication.cpp - values that are equal on several ranks -----------===//

#include "lib/Sharding/Replication.h"
#include "dialects/Comm/Sharding.h"
#include "lib/Sharding/AxisLists.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

Replication::Replication(FunctionOpInterface function, ProgramAttr program, const Mesh &mesh)
    : program(program), mesh(mesh) {
  for (BlockArgument argument : function.getArguments())
    differences[argument] = differenceOfArgument(function, argument.getArgNumber());
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) { update(op); });
}

AxesAttr Replication::replicatedAxes(Value value, AxesAttr axes) const {
  AxisSet difference = differenceOf(value);
  return filterAxes(axes, [&](StringAttr axis) {
    const auto *place = llvm::find(mesh.getNames(), axis);
    return place != mesh.getNames().end() && !difference.test(place - mesh.getNames().begin());
  });
}

void Replication::update(Operation *op) {
  if (op->getNumResults() == 0)
    return;
  AxisSet difference = differenceOfResults(op);
  for (Value result : op->getResults())
    differences[result] = difference;
}

Replication::AxisSet Replication::setOf(AxesAttr axes) const {
  AxisSet set = none();
  for (auto [index, name] : llvm::enumerate(mesh.getNames()))
    if (axes.contains(name))
      set.set(index);
  return set;
}

Replication::AxisSet Replication::differenceOf(Value value) const {
  auto found = differences.find(value);
  return found == differences.end() ? all() : found->second;
}

Replication::AxisSet Replication::differenceOfArgument(FunctionOpInterface function, unsigned argument) const {
  ShardingAttr sharding = shardingOfArgument(function, argument, program.getMesh());
  if (sharding.getMesh() != program.getMesh())
    return all();
  AxisSet set = setOf(sharding.getPartial()) | setOf(sharding.getFlat());
  for (AxesAttr axes : sharding.getDims())
    set |= setOf(axes);
  return set;
}

Replication::AxisSet Replication::differenceOfResults(Operation *op) const {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return differenceOfResults(collective);
  if (auto wait = dyn_cast<WaitOp>(op); wait && !copyOf(op))
    return differenceOfResults(wait.getStart().getCollective());
  if (CopyOp copy = copyOf(op)) {
    AxisSet set = none();
    for (Value operand : copy.getIns())
      set |= differenceOf(operand);
    return set;
  }
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return all();
  AxisSet set = none();
  for (Value operand : op->getOperands())
    set |= differenceOf(operand);
  // An op that names a group but sends nothing reads the rank's number in that group.
  if (isa_and_nonnull<CommDialect>(op->getDialect()))
    if (auto axes = op->getAttrOfType<AxesAttr>("axes"))
      set |= setOf(axes);
  return set;
}

Replication::AxisSet Replication::differenceOfResults(CollectiveOpInterface op) const {
  if (op.getMeshAttr() != program.getMesh())
    return all();
  // The differences between values from ranks that run another function are unknown here.
  bool isSentElsewhere = op.getSent().empty() || (program.getAxis() && op.getAxes().contains(program.getAxis()));
  AxisSet set = isSentElsewhere ? all() : none();
  for (Value operand : op.getSent())
    set |= differenceOf(operand);
  return op.getRow().resultsAgree ? set.reset(setOf(op.getAxes())) : set |= setOf(op.getAxes());
}
