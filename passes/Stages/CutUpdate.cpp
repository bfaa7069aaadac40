//===- CutUpdate.cpp - cut the update among pipeline ranks ----------------===//

#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"
#include "passes/Stages/RankFunctions.h"

using namespace mlir;
using namespace braid;
using llvm::SmallBitVector;

/// Upper limit of elements of a tensor that ranks exchange in an update, except parts of shared gradients. Such
/// tensors are scalars of the whole step; a larger one would be a mistake.
static constexpr int64_t kMaxElements = 4096;

namespace {
class UpdateCutter {
public:
  UpdateCutter(func::FuncOp program, const StageAxis &axis, const Holders &holders)
      : program(program), signature(program), holders(holders), functions(program, axis) {}

  FailureOr<SmallVector<func::FuncOp>> run();

private:
  void addArguments();
  void addSharedSums();
  LogicalResult place(Operation *op);
  bool isSumOfMany(Value value) const;
  void findTerms(Value value, SmallVectorImpl<Value> &terms);
  LogicalResult addAmongRanks(Operation *op);
  LogicalResult bringToAll(Value value, Operation *reader);
  LogicalResult returnResult(OpOperand &operand);
  int first(Value value) const { return available.lookup(value).find_first(); }

  func::FuncOp program;
  tg::ProgramSignature signature;
  const Holders &holders;
  RankFunctions functions;
  /// The ranks on which each value is available.
  DenseMap<Value, SmallBitVector> available;
};
} // namespace

void UpdateCutter::addArguments() {
  for (BlockArgument argument : program.getArguments()) {
    SmallBitVector ranks = holders.of(argument);
    available[argument] = ranks;
    tg::StateAttr state = stateOf(argument);
    if (!holders.isShared(argument)) {
      for (unsigned rank : ranks.set_bits())
        functions[rank].addArgument(argument);
      continue;
    }
    for (unsigned rank : holders.partsOf(state.getName())) {
      NamedAttrList attributes(program.getArgAttrDict(argument.getArgNumber()));
      auto name = StringAttr::get(program.getContext(), holders.nameOn(rank, state.getName()));
      attributes.set(tg::kState, tg::StateAttr::get(program.getContext(), name, state.getInit(), state.getOf(),
                                                    state.getKind(), state.getTransposed(), state.getFused()));
      functions[rank].map(argument, functions[rank].addArgument(argument.getType(),
                                                                attributes.getDictionary(program.getContext()),
                                                                argument.getLoc()));
    }
  }
}

/// Adds all parts on the first rank, which sends the sum to the others, so that all have the same bits.
void UpdateCutter::addSharedSums() {
  for (BlockArgument argument : program.getArguments()) {
    if (!holders.isShared(argument))
      continue;
    tg::StateAttr state = stateOf(argument);
    SmallVector<unsigned> parts = holders.partsOf(state.getName());
    unsigned root = parts.front();
    tg::FactsAttr facts =
        tg::getFacts(program.getContext(), tg::Phase::Backward, StringAttr(), state.getOf(), tg::TensorKind::Gradient);
    Location loc = tg::withFacts(program.getLoc(), facts);
    Value sum = functions[root].lookup(argument);
    for (unsigned rank : llvm::drop_begin(parts))
      sum = functions[root].getBuilder().create<arith::AddFOp>(
          loc, sum, functions.move(argument, functions[rank].lookup(argument), rank, root, loc));
    functions[root].map(argument, sum);
    for (unsigned rank : holders.of(argument).set_bits())
      if (rank != root)
        functions[rank].map(argument, functions.move(argument, sum, root, rank, loc));
  }
}

/// Whether a value is a float sum whose terms no single rank has in full.
bool UpdateCutter::isSumOfMany(Value value) const {
  return isa_and_present<arith::AddFOp>(value.getDefiningOp()) && available.lookup(value).none();
}

void UpdateCutter::findTerms(Value value, SmallVectorImpl<Value> &terms) {
  if (isSumOfMany(value) && value.hasOneUse())
    for (Value operand : value.getDefiningOp()->getOperands())
      findTerms(operand, terms);
  else
    terms.push_back(value);
}

LogicalResult UpdateCutter::bringToAll(Value value, Operation *reader) {
  if (available[value].all())
    return success();
  if (isSumOfMany(value))
    return addAmongRanks(value.getDefiningOp());
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() > kMaxElements)
    return reader->emitError() << "reads a " << type << " that ranks " << first(value)
                               << " of the pipeline hold, but other ranks run it, too; only numbers of the whole step "
                                  "are sent between ranks at its end";
  functions.broadcast(value, first(value));
  available[value] = holders.allRanks();
  return success();
}

/// Adds, on each rank, the terms that this rank is the first to hold; then adds these sums among all ranks.
LogicalResult UpdateCutter::addAmongRanks(Operation *op) {
  Value sum = op->getResult(0);
  SmallVector<Value> terms;
  for (Value operand : op->getOperands())
    findTerms(operand, terms);
  auto type = cast<RankedTensorType>(sum.getType());
  SmallVector<Value> ofRanks(functions.size());
  for (Value term : terms) {
    if (isSumOfMany(term) && failed(addAmongRanks(term.getDefiningOp())))
      return failure();
    unsigned rank = first(term);
    Value localTerm = functions[rank].lookup(term);
    ofRanks[rank] = ofRanks[rank]
                        ? functions[rank].getBuilder().create<arith::AddFOp>(op->getLoc(), ofRanks[rank], localTerm)
                        : localTerm;
  }
  for (auto [rank, value] : llvm::enumerate(ofRanks))
    if (!value)
      value = functions[rank].getBuilder().create<arith::ConstantOp>(
          op->getLoc(), DenseElementsAttr::get(type, FloatAttr::get(type.getElementType(), 0.0)));
  for (auto [rank, value] : llvm::enumerate(functions.allReduce(sum, ofRanks, op->getLoc())))
    functions[rank].map(sum, value);
  available[sum] = holders.allRanks();
  return success();
}

/// Whether an op returns a tensor larger than all its operands, such as a broadcast scalar.
static bool expands(Operation *op, ArrayRef<Value> read) {
  auto elements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  return !read.empty() && !isa<comm::CollectiveOpInterface>(op) && llvm::all_of(op->getResults(), [&](Value result) {
    return llvm::all_of(read, [&](Value value) { return elements(value) < elements(result); });
  });
}

LogicalResult UpdateCutter::place(Operation *op) {
  SmallVector<Value> read = valuesReadBy(op);
  if (expands(op, read))
    for (Value value : read)
      if (failed(bringToAll(value, op)))
        return failure();
  auto ranksOf = [&] {
    SmallBitVector ranks = holders.allRanks();
    for (Value value : read)
      ranks &= available[value];
    return ranks;
  };
  SmallBitVector ranks = ranksOf();
  // A sum over several ranks is delayed until it is read.
  if (ranks.none() && isa<arith::AddFOp>(op)) {
    available[op->getResult(0)] = ranks;
    return success();
  }
  if (ranks.none()) {
    // Smaller values are sent to the ranks of larger ones.
    llvm::stable_sort(read, [](Value a, Value b) {
      return cast<RankedTensorType>(a.getType()).getNumElements() <
             cast<RankedTensorType>(b.getType()).getNumElements();
    });
    for (Value value : read)
      if (ranksOf().none() && failed(bringToAll(value, op)))
        return failure();
    ranks = ranksOf();
  }
  for (unsigned rank : ranks.set_bits()) {
    IRMapping values;
    for (Value value : read)
      values.map(value, functions[rank].lookup(value));
    Operation *copy = functions[rank].getBuilder().clone(*op, values);
    for (auto [result, cloned] : llvm::zip_equal(op->getResults(), copy->getResults()))
      functions[rank].map(result, cloned);
  }
  for (Value result : op->getResults())
    available[result] = ranks;
  return success();
}

/// Keeps new values on the ranks of their tensors, and sends every other result to all ranks.
LogicalResult UpdateCutter::returnResult(OpOperand &operand) {
  DictionaryAttr attributes = emptyIfNull(program.getResultAttrDict(operand.getOperandNumber()), program.getContext());
  StringAttr updates = tg::ResultAttrs(attributes).updates;
  SmallBitVector ranks = holders.allRanks();
  if (BlockArgument argument = signature.updatedArgument(operand.getOperandNumber())) {
    ranks = holders.of(argument);
    if (holders.isShared(argument)) {
      ranks.reset();
      for (unsigned rank : holders.partsOf(updates))
        ranks.set(rank);
    }
  }
  if (ranks.test(available[operand.get()]) && failed(bringToAll(operand.get(), returnOf(program))))
    return failure();
  for (unsigned rank : ranks.set_bits()) {
    NamedAttrList own(attributes);
    if (updates)
      own.set(tg::kUpdates, StringAttr::get(program.getContext(), holders.nameOn(rank, updates)));
    functions[rank].addResult(functions[rank].lookup(operand.get()), own.getDictionary(program.getContext()));
  }
  return success();
}

FailureOr<SmallVector<func::FuncOp>> UpdateCutter::run() {
  addArguments();
  addSharedSums();
  for (Operation &op : program.front().without_terminator())
    if (failed(place(&op)))
      return failure();
  for (OpOperand &operand : returnOf(program)->getOpOperands())
    if (failed(returnResult(operand)))
      return failure();
  return functions.finish();
}

FailureOr<SmallVector<func::FuncOp>> braid::cutUpdate(func::FuncOp program, const StageAxis &axis,
                                                      const Holders &holders) {
  return UpdateCutter(program, axis, holders).run();
}
