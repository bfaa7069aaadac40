//===- MovedValues.cpp - values that a collective moves -------------------===//

#include "dialects/Comm/MovedValues.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

ValueNumbers::ValueNumbers(func::FuncOp function) {
  Builder builder(function.getContext());
  auto add = [&](Value value, StringAttr name) {
    numbers[value] = name ? Attribute(name) : Attribute(builder.getI64IntegerAttr(numbers.size()));
  };
  for (BlockArgument argument : function.getArguments())
    add(argument, tg::nameOf(function.getArgAttrDict(argument.getArgNumber())));
  for (Operation &op : function.front())
    for (Value result : op.getResults())
      add(result, {});
}

ArrayAttr comm::movedValuesOf(Operation *op) { return op->getAttrOfType<ArrayAttr>(kMoved); }

void comm::setMovedValues(Operation *op, ArrayRef<Attribute> values) {
  op->setAttr(kMoved, ArrayAttr::get(op->getContext(), values));
}

/// Returns the number of tensors of a collective, on a rank that sends or receives them.
static size_t numTensors(CollectiveOpInterface op) {
  auto outs = cast<exec::ActionOpInterface>(*op).getActionOuts();
  return std::max({op.getSent().size(), outs.size(), size_t(op->getNumResults())});
}

LogicalResult comm::verifyMovedValues(Operation *op, Attribute attribute) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return op->emitOpError() << "has 'comm.moved', which belongs on a collective";
  auto values = dyn_cast<ArrayAttr>(attribute);
  if (!values || !llvm::all_of(values, llvm::IsaPred<StringAttr, IntegerAttr>))
    return op->emitOpError() << "'comm.moved' is a list of names and numbers, found " << attribute;
  if (values.size() != numTensors(collective))
    return op->emitOpError() << "'comm.moved' has " << values.size() << " entries for " << numTensors(collective)
                             << " tensors";
  return success();
}
