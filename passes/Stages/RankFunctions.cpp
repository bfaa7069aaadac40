//===- RankFunctions.cpp - functions of the ranks along an axis -----------===//

#include "passes/Stages/RankFunctions.h"
#include "dialects/Comm/Programs.h"
#include "dialects/TG/Facts.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;

RankFunctions::RankFunctions(func::FuncOp program, const StageAxis &axis)
    : program(program), axis(axis), numbers(program) {
  for (unsigned rank = 0; rank < axis.size; ++rank)
    functions.emplace_back(program, axis, rank, (program.getName() + "_" + axis.axis.getValue() + Twine(rank)).str());
}

Value RankFunctions::move(Value value, Value local, unsigned from, unsigned to, Location loc) {
  OpBuilder &sender = functions[from].getBuilder(), &receiver = functions[to].getBuilder();
  auto send = sender.create<comm::SendOp>(loc, TypeRange(), local, ValueRange(), sender.getI64IntegerAttr(to),
                                          axis.mesh, axis.group());
  auto recv = receiver.create<comm::RecvOp>(loc, local.getType(), ValueRange(), ValueRange(),
                                            receiver.getI64IntegerAttr(from), axis.mesh, axis.group());
  for (Operation *side : {send.getOperation(), recv.getOperation()})
    comm::setMovedValues(side, numbers.of(value));
  return recv->getResult(0);
}

/// An argument, such as a sum of the loss, has no phase; its messages belong to forward.
static Location locationOf(Value value) {
  return isa<BlockArgument>(value) ? tg::withPhase(value.getLoc(), tg::Phase::Forward) : tg::locationOf(value);
}

void RankFunctions::send(Value value, unsigned from, unsigned to) {
  functions[to].map(value, move(value, functions[from].lookup(value), from, to, locationOf(value)));
}

/// Returns the location of the op that defines a value. For arguments: forward for the loss, update for all others.
static Location locationOfSent(Value value) {
  Location loc = tg::locationOf(value);
  auto argument = dyn_cast<BlockArgument>(value);
  if (tg::factsOf(loc) || !argument)
    return loc;
  tg::StateAttr state = stateOf(argument);
  bool isOfLoss = state && state.isOfLoss();
  return tg::withFacts(loc, tg::getFacts(loc.getContext(), isOfLoss ? tg::Phase::Forward : tg::Phase::Update));
}

void RankFunctions::broadcast(Value value, unsigned from) {
  for (unsigned rank = 0; rank < functions.size(); ++rank) {
    OpBuilder &builder = functions[rank].getBuilder();
    bool isRoot = rank == from;
    auto op = builder.create<comm::BroadcastOp>(locationOfSent(value), isRoot ? TypeRange() : value.getType(),
                                                isRoot ? ValueRange(functions[rank].lookup(value)) : ValueRange(),
                                                ValueRange(), builder.getI64IntegerAttr(from), axis.mesh, axis.group());
    comm::setMovedValues(op, numbers.of(value));
    if (!isRoot)
      functions[rank].map(value, op->getResult(0));
  }
}

SmallVector<Value> RankFunctions::allReduce(Value sum, ArrayRef<Value> ofRanks, Location loc) {
  SmallVector<Value> sums;
  for (auto [rank, value] : llvm::enumerate(ofRanks)) {
    auto op = functions[rank].getBuilder().create<comm::AllReduceOp>(loc, comm::Reduction::Sum, value, axis.mesh,
                                                                     axis.group());
    comm::setMovedValues(op, numbers.of(sum));
    sums.push_back(op->getResult(0));
  }
  return sums;
}

SmallVector<func::FuncOp> RankFunctions::finish() {
  SmallVector<func::FuncOp> made;
  for (StageFunction &function : functions) {
    function.finish();
    function.get()->setAttr(comm::kEntry, program.getSymNameAttr());
    made.push_back(function.get());
  }
  return made;
}
