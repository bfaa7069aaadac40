//===- OpTable.cpp - one evaluation function for each op ------------------===//

#include "lib/Reference/OpTable.h"
#include "dialects/Exec/Exec.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

const Tensor &Operands::operator()(Value operand) const {
  for (unsigned i = 0; i < tensors.size(); ++i)
    if (op->getOperand(i) == operand)
      return *tensors[i];
  llvm_unreachable("not an operand of the op");
}

const OpTable &OpTable::instance() {
  static const OpTable table = [] {
    OpTable made;
    addMovement(made);
    addContraction(made);
    addActivations(made);
    addNorms(made);
    addAttention(made);
    addLosses(made);
    addExperts(made);
    addOptimizers(made);
    addExec(made);
    addComm(made);
    return made;
  }();
  return table;
}

const OpFunction *OpTable::find(Operation *op) const {
  auto found = functions.find(op->getName().getStringRef());
  return found == functions.end() ? nullptr : &found->second;
}

RankedTensorType braid::reference::resultType(Operation *op, unsigned i) {
  if (i < op->getNumResults())
    return cast<RankedTensorType>(op->getResult(i).getType());
  OperandRange outs = cast<exec::ActionOpInterface>(op).getActionOuts();
  return cast<exec::RefType>(outs[i].getType()).getTensorType();
}
