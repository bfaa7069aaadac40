//===- SharedGradients.cpp - sums of gradients that several stages make ---===//

#include "passes/Stages/SharedGradients.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;

namespace {
/// One accumulator, whose new value is a tree of sums.
class Splitter {
public:
  Splitter(func::FuncOp program, StageMap &map, BlockArgument accumulator, OpOperand &updated)
      : program(program), map(map), accumulator(accumulator), updated(updated) {
    findLeaves(updated.get());
  }

  /// The stages that add to it.
  ArrayRef<unsigned> getStages() const { return stages.getArrayRef(); }
  /// Leaves to the accumulator what the stages of one rank add, and gives each other rank one of its own.
  void split(llvm::function_ref<unsigned(unsigned)> rankOf, StringRef name, std::map<unsigned, std::string> &names);

private:
  bool isNode(Value value) const;
  void findLeaves(Value value);
  Value sumOf(Value value, ArrayRef<unsigned> ofStages, BlockArgument own, OpBuilder &builder);

  func::FuncOp program;
  StageMap &map;
  BlockArgument accumulator;
  OpOperand &updated;
  llvm::SetVector<unsigned> stages;
};
} // namespace

/// Whether the results for the terms of a sum add up to that for the sum.
static bool isLinear(Operation *op) {
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return collective.getReductionKind() == comm::Reduction::Sum && op->getNumOperands() == 1;
  return isa<arith::AddFOp, tg::ConvertOp, comm::SliceOp>(op);
}

/// A sum, or something linear of one, that nothing else reads.
bool Splitter::isNode(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && (value.hasOneUse() || value.use_empty()) && isLinear(op);
}

void Splitter::findLeaves(Value value) {
  if (isNode(value))
    for (Value operand : value.getDefiningOp()->getOperands())
      findLeaves(operand);
  else
    for (Value staged : map.stagedAmong(value))
      stages.insert(*map.stageOf(staged));
}

/// What the leaves of some stages add up to, with an accumulator in place of the old one; null for
/// none of them.
Value Splitter::sumOf(Value value, ArrayRef<unsigned> ofStages, BlockArgument own, OpBuilder &builder) {
  if (value == accumulator)
    return own;
  Operation *op = value.getDefiningOp();
  if (!isNode(value)) {
    SmallVector<Value> staged = map.stagedAmong(value);
    return !staged.empty() && llvm::is_contained(ofStages, *map.stageOf(staged.front())) ? value : Value();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (Value sum = sumOf(operand, ofStages, own, builder))
      operands.push_back(sum);
  if (operands.empty())
    return {};
  if (operands.size() < op->getNumOperands())
    return operands.front(); // of a sum with nothing
  IRMapping values;
  values.map(op->getOperands(), operands);
  Operation *copy = builder.clone(*op, values);
  map.set(copy, ofStages.front());
  return copy->getResult(0);
}

void Splitter::split(llvm::function_ref<unsigned(unsigned)> rankOf, StringRef name,
                     std::map<unsigned, std::string> &names) {
  std::map<unsigned, SmallVector<unsigned>> stagesOf;
  for (unsigned stage : stages)
    stagesOf[rankOf(stage)].push_back(stage);
  for (auto &[rank, its] : stagesOf)
    llvm::sort(its);
  OpBuilder builder(returnOf(program));
  Value whole = updated.get();
  auto state = stateOf(accumulator);
  auto first = stagesOf.begin();
  updated.set(sumOf(whole, first->second, accumulator, builder));
  names[first->first] = name.str();
  // Parts of logical tensors, as the accumulator and its new value are.
  unsigned result = updated.getOperandNumber();
  NamedAttrList ofArgument(program.getArgAttrDict(accumulator.getArgNumber())),
      ofResult(program.getResultAttrDict(result));
  for (auto &[rank, its] : llvm::drop_begin(stagesOf)) {
    std::string own = (name + ".stage" + Twine(its.front())).str();
    names[rank] = own;
    auto ownName = builder.getStringAttr(own);
    ofArgument.set(tg::kState, tg::StateAttr::get(builder.getContext(), ownName, state.getInit(), state.getOf(),
                                                  state.getKind(), state.getTransposed(), state.getFused()));
    ofResult.set(tg::kUpdates, ownName);
    unsigned number = program.getNumArguments();
    program.insertArgument(number, accumulator.getType(), ofArgument.getDictionary(builder.getContext()),
                           accumulator.getLoc());
    Value sum = sumOf(whole, its, program.getArgument(number), builder);
    returnOf(program).getOperandsMutable().append(sum);
    program.insertResult(program.getNumResults(), sum.getType(), ofResult.getDictionary(builder.getContext()));
  }
  // What nothing reads any more is no op of a stage.
  SmallVector<Value> dead{whole};
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val().getDefiningOp();
    if (!op || !op->use_empty() || !isLinear(op))
      continue;
    llvm::append_range(dead, op->getOperands());
    map.erase(op);
    op->erase();
  }
}

FailureOr<SharedSums> braid::splitSharedGradients(func::FuncOp accumulate, StageMap &map,
                                                  llvm::function_ref<unsigned(unsigned)> rankOf) {
  SharedSums shared;
  llvm::StringMap<BlockArgument> accumulators;
  for (BlockArgument argument : accumulate.getArguments())
    if (tg::StateAttr state = stateOf(argument); state && state.isAccumulator())
      accumulators[state.getName()] = argument;
  unsigned numResults = accumulate.getNumResults();
  for (unsigned result = 0; result < numResults; ++result) {
    auto name = accumulate.getResultAttrOfType<StringAttr>(result, tg::kUpdates);
    BlockArgument accumulator = name ? accumulators.lookup(name) : BlockArgument();
    if (!accumulator)
      continue;
    Splitter splitter(accumulate, map, accumulator, returnOf(accumulate)->getOpOperand(result));
    if (splitter.getStages().size() > 1)
      splitter.split(rankOf, name, shared[name]);
  }
  return shared;
}
