//===- IndexInputs.cpp - inputs that are used as indices ------------------===//

#include "dialects/Interfaces/Indexing.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/FrontEnd/InputFacts.h"

using namespace mlir;
using namespace braid;

/// Returns the range that both allow.
static IndexRange intersect(IndexRange a, IndexRange b) {
  IndexRange both{std::min(a.extent, b.extent)};
  if (a.ignored == b.ignored)
    both.ignored = a.ignored;
  return both;
}

/// Returns the range that the ops accept that use `value`, or its moved elements, as an index.
static std::optional<IndexRange> rangeOfUses(Value value) {
  std::optional<IndexRange> found;
  auto add = [&](std::optional<IndexRange> range) {
    if (range)
      found = found ? intersect(*found, *range) : range;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto indexing = dyn_cast<IndexingOpInterface>(user))
      add(indexing.getIndexRange(use));
    if (onlyMovesOrRounds(user))
      for (Value result : user->getResults())
        add(rangeOfUses(result));
  }
  return found;
}

std::vector<tg::IndexedBy> braid::findIndexInputs(func::FuncOp model) {
  std::vector<tg::IndexedBy> inputs;
  for (BlockArgument argument : model.getArguments()) {
    StringAttr name = tg::ArgumentAttrs(argument).input;
    if (!name || !isa<IntegerType>(getElementTypeOrSelf(argument.getType())))
      continue;
    if (std::optional<IndexRange> range = rangeOfUses(argument))
      inputs.push_back({name.str(), range->extent, range->ignored});
  }
  return inputs;
}
