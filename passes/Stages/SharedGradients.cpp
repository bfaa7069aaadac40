//===- SharedGradients.cpp - gradient sums of several stages --------------===//
//
// Several stages may read a parameter, such as the table of tied embeddings, and each computes a gradient for it.
// Every rank sums its own gradients over the microbatches. These sums are added after the schedule of a step ends.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"

using namespace mlir;
using namespace braid;

namespace {
/// An accumulator whose new value is a tree of sums.
class Splitter {
public:
  Splitter(func::FuncOp program, StageMap &map, BlockArgument accumulator, unsigned result)
      : program(program), map(map), accumulator(accumulator), result(result) {
    findLeaves(getUpdated());
  }

  /// Returns the stages that add to the accumulator.
  ArrayRef<unsigned> getStages() const { return stages.getArrayRef(); }
  /// Keeps the original accumulator for the stages of one rank, and adds an accumulator for each other rank.
  void split(llvm::function_ref<unsigned(unsigned)> rankOf, StringRef name, std::map<unsigned, std::string> &names);

private:
  Value getUpdated() const { return returnOf(program).getOperand(result); }
  bool isNode(Value value) const;
  void findLeaves(Value value);
  Value sumOf(Value value, unsigned stage, BlockArgument own, OpBuilder &builder);
  BlockArgument addAccumulator(StringRef name, OpBuilder &builder);
  void addResult(Value sum, StringRef name, OpBuilder &builder);

  func::FuncOp program;
  StageMap &map;
  BlockArgument accumulator;
  /// Number of the result with the accumulator's new value.
  unsigned result;
  llvm::SetVector<unsigned> stages;
};
} // namespace

/// Whether the op is linear: its results for the terms of a sum add up to its result for the sum.
static bool isLinear(Operation *op) {
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return collective.getReductionKind() == comm::Reduction::Sum && op->getNumOperands() == 1;
  return isa<arith::AddFOp, tg::ConvertOp, comm::SliceOp>(op);
}

/// Whether a value is a sum, or a linear op on one, without other readers.
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

/// Returns the sum of the leaves of a stage, with `own` in place of the old accumulator; null if the stage has no
/// leaves.
Value Splitter::sumOf(Value value, unsigned stage, BlockArgument own, OpBuilder &builder) {
  if (value == accumulator)
    return own;
  Operation *op = value.getDefiningOp();
  if (!isNode(value)) {
    // Any stage can compute a value that depends on weights alone; one stage adds it.
    SmallVector<Value> staged = map.stagedAmong(value);
    return stage == (staged.empty() ? stages.front() : *map.stageOf(staged.front())) ? value : Value();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (Value sum = sumOf(operand, stage, own, builder))
      operands.push_back(sum);
  if (operands.empty())
    return {};
  if (operands.size() < op->getNumOperands())
    return operands.front(); // a sum with an empty side
  IRMapping values;
  values.map(op->getOperands(), operands);
  Operation *copy = builder.clone(*op, values);
  map.set(copy, stage);
  return copy->getResult(0);
}

/// Adds an accumulator for a part of the same logical tensor.
BlockArgument Splitter::addAccumulator(StringRef name, OpBuilder &builder) {
  auto state = stateOf(accumulator);
  NamedAttrList attributes(program.getArgAttrDict(accumulator.getArgNumber()));
  attributes.set(tg::kState,
                 tg::StateAttr::get(builder.getContext(), builder.getStringAttr(name), state.getInit(), state.getOf(),
                                    state.getKind(), state.getTransposed(), state.getFused()));
  unsigned number = program.getNumArguments();
  program.insertArgument(number, accumulator.getType(), attributes.getDictionary(builder.getContext()),
                         accumulator.getLoc());
  return program.getArgument(number);
}

void Splitter::addResult(Value sum, StringRef name, OpBuilder &builder) {
  NamedAttrList attributes(program.getResultAttrDict(result));
  attributes.set(tg::kUpdates, builder.getStringAttr(name));
  returnOf(program).getOperandsMutable().append(sum);
  program.insertResult(program.getNumResults(), sum.getType(), attributes.getDictionary(builder.getContext()));
}

void Splitter::split(llvm::function_ref<unsigned(unsigned)> rankOf, StringRef name,
                     std::map<unsigned, std::string> &names) {
  std::map<unsigned, SmallVector<unsigned>> stagesOf;
  for (unsigned stage : stages)
    stagesOf[rankOf(stage)].push_back(stage);
  OpBuilder builder(returnOf(program));
  Value whole = getUpdated();
  bool isFirst = true;
  for (auto &[rank, ownStages] : stagesOf) {
    llvm::sort(ownStages);
    names[rank] = isFirst ? name.str() : (name + ".stage" + Twine(ownStages.front())).str();
    BlockArgument own = isFirst ? accumulator : addAccumulator(names[rank], builder);
    // Stages of one rank add to one accumulator, one after the other.
    for (unsigned stage : ownStages) {
      Value sum = sumOf(whole, stage, own, builder);
      if (std::exchange(isFirst, false))
        returnOf(program).setOperand(result, sum);
      else
        addResult(sum, names[rank], builder);
    }
  }
  // Ops that have lost all readers are erased, so that no stage gets them.
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
  tg::ProgramSignature signature(accumulate);
  unsigned numResults = accumulate.getNumResults();
  for (unsigned result = 0; result < numResults; ++result) {
    BlockArgument accumulator = signature.updatedArgument(result);
    tg::StateAttr state = stateOf(accumulator);
    // Sums for the log are computed in one stage.
    if (!state || !state.isAccumulator() || state.isOfLoss())
      continue;
    Splitter splitter(accumulate, map, accumulator, result);
    if (splitter.getStages().size() > 1)
      splitter.split(rankOf, state.getName(), shared[state.getName()]);
  }
  return shared;
}
