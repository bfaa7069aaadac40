//===- RecordReads.cpp - the writes that each read must see ---------------===//

#include "lib/Memory/RecordReads.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {

/// Follows values to their writers.
class ReadsOfValues {
public:
  explicit ReadsOfValues(Block &block) {
    for (auto action : block.getOps<ActionOpInterface>())
      numbers.try_emplace(action, numbers.size());
  }
  ValueRead read(Value value) const;

private:
  ValueSource sourceOf(Value value) const;
  void addSources(Value value, SmallVectorImpl<ValueSource> &sources) const;
  ElementSource follow(Value value, ArrayRef<int64_t> index) const;

  DenseMap<Operation *, int64_t> numbers;
};

} // namespace

/// Returns the source of an argument or a result of an action.
ValueSource ReadsOfValues::sourceOf(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {-1, argument.getArgNumber()};
  auto result = cast<OpResult>(value);
  return {numbers.at(cast<ActionOpInterface>(result.getOwner()).getActionBegin()), result.getResultNumber()};
}

void ReadsOfValues::addSources(Value value, SmallVectorImpl<ValueSource> &sources) const {
  if (auto view = value.getDefiningOp<ViewOp>())
    return addSources(view.getSource(), sources);
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat)
    return sources.push_back(sourceOf(value));
  for (Value input : concat.getInputs())
    addSources(input, sources);
}

/// Follows an element through views and concatenations to the place where it was written.
ElementSource ReadsOfValues::follow(Value value, ArrayRef<int64_t> index) const {
  SmallVector<int64_t> at(index);
  while (true) {
    if (auto view = value.getDefiningOp<ViewOp>()) {
      int64_t position = view.getOffset();
      for (auto [i, stride] : llvm::zip_equal(at, view.getStrides()))
        position += i * stride;
      value = view.getSource();
      ArrayRef<int64_t> shape = shapeOf(value);
      at.assign(shape.size(), 0);
      for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
        at[dim] = position % shape[dim];
    } else if (auto concat = value.getDefiningOp<ConcatOp>()) {
      int64_t dim = concat.getDim(), number = 0;
      for (; at[dim] >= shapeOf(concat.getInputs()[number])[dim]; ++number)
        at[dim] -= shapeOf(concat.getInputs()[number])[dim];
      value = concat.getInputs()[number];
    } else {
      return {SmallVector<int64_t>(index), sourceOf(value), std::move(at)};
    }
  }
}

ValueRead ReadsOfValues::read(Value value) const {
  ValueRead read;
  llvm::append_range(read.shape, shapeOf(value));
  addSources(value, read.sources);
  if (!isa_and_nonnull<ViewOp, ConcatOp>(value.getDefiningOp()))
    return read;
  SmallVector<int64_t> first(read.shape.size(), 0), last;
  for (int64_t size : read.shape)
    last.push_back(size - 1);
  read.elements.push_back(follow(value, first));
  read.elements.push_back(follow(value, last));
  return read;
}

ProgramReads braid::readsOf(func::FuncOp program) {
  Block &block = program.getBody().front();
  ReadsOfValues values(block);
  ProgramReads reads;
  for (unsigned argument = 0; argument < program.getNumArguments(); ++argument)
    reads.arguments.push_back(nameOf(program, argument).str());
  for (auto action : block.getOps<ActionOpInterface>()) {
    auto &operands = reads.actions.emplace_back();
    if (action.getActionBegin() == action)
      for (Value operand : action.getActionIns())
        operands.push_back(values.read(operand));
  }
  for (OpOperand &returned : block.getTerminator()->getOpOperands()) {
    StringAttr name = tg::updatedTensorName(returned);
    reads.results.push_back(values.read(returned.get()));
    reads.updates.push_back(name ? name.str() : "");
  }
  return reads;
}

ProgramReads braid::movedReads(const ProgramReads &reads, ArrayRef<MovedAction> moved) {
  auto move = [&](ValueSource &source) {
    if (source.action < 0 || source.action >= static_cast<int64_t>(moved.size()))
      return; // exec-verify-plan rejects sources that match no action
    source.number += moved[source.action].firstOut;
    source.action = moved[source.action].action;
  };
  auto movedRead = [&](ValueRead read) {
    llvm::for_each(read.sources, move);
    for (ElementSource &element : read.elements)
      move(element.source);
    return read;
  };
  ProgramReads result{reads.arguments, {}, {}, reads.updates};
  for (auto [index, operands] : llvm::enumerate(reads.actions)) {
    size_t action = moved[index].action;
    if (result.actions.size() <= action)
      result.actions.resize(action + 1);
    llvm::append_range(result.actions[action], llvm::map_range(operands, movedRead));
  }
  llvm::append_range(result.results, llvm::map_range(reads.results, movedRead));
  return result;
}
