//===- CollectiveRoles.cpp - role of a collective in a step ---------------===//

#include "passes/Collectives/CollectiveRoles.h"
#include "dialects/Comm/Mesh.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

TensorOwners::TensorOwners(func::FuncOp function) : owners(parametersByOwner(function)) {
  for (BlockArgument argument : function.getArguments())
    if (tg::StateAttr state = stateOf(argument); state && !state.getOf())
      owners.try_emplace(state.getName(), argument);
}

BlockArgument TensorOwners::ownerOf(tg::FactsAttr facts) const {
  BlockArgument first;
  for (StringAttr name : facts ? facts.getOf() : ArrayRef<StringAttr>())
    if (BlockArgument owner = owners.lookup(name); owner && (!first || owner.getArgNumber() < first.getArgNumber()))
      first = owner;
  return first;
}

static bool isOneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() == 1;
}

std::optional<CollectiveRole> braid::roleOf(CollectiveOpInterface op) {
  ProgramAttr program = enclosingProgram(op);
  bool spansFunctions = program && program.getAxis() && op.getAxes().contains(program.getAxis());
  // Buckets hold only tensors that all ranks of the group send and receive.
  if (spansFunctions || op.getRow().isTransfer() || op.getRootRank() || op->getNumResults() == 0 ||
      op.getSent().size() != op->getNumResults() || op->getNumOperands() != op->getNumResults() ||
      !isa<func::FuncOp>(op->getParentOp()))
    return std::nullopt;
  tg::FactsAttr facts = tg::factsOfTensor(op->getResult(0));
  if (!op.getReductionKind()) {
    bool isUpdate = facts && facts.getPhase() == tg::Phase::Update && tg::isParameter(facts);
    return op.getRow().resultsAgree && isUpdate ? std::optional(CollectiveRole::Update) : std::nullopt;
  }
  if (tg::isGradient(facts))
    return CollectiveRole::Gradient;
  if (llvm::all_of(op->getResults(), isOneElement))
    return CollectiveRole::Scalar;
  bool isStatistic = tg::kindOf(facts) == tg::TensorKind::RunningStatistic;
  return isStatistic ? std::optional(CollectiveRole::State) : std::nullopt;
}
