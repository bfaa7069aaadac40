//===- Categories.cpp - what memory is for --------------------------------===//

#include "lib/Memory/Categories.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/Reads.h"
#include "lib/Schedule/Forward.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

exec::Category braid::categoryOf(tg::TensorKind kind) {
  switch (kind) {
  case tg::TensorKind::Parameter:
  case tg::TensorKind::WorkingCopy:
    return exec::Category::Parameters;
  case tg::TensorKind::Gradient:
  case tg::TensorKind::Accumulator:
    return exec::Category::Gradients;
  case tg::TensorKind::Master:
  case tg::TensorKind::Moment:
  case tg::TensorKind::RunningStatistic: // what else training keeps beside parameters
    return exec::Category::OptimizerState;
  }
  llvm_unreachable("a kind of tensor without a category");
}

/// Values that parameters alone decide: parameters, and what is made of them.
static DenseSet<Value> parameterValues(func::FuncOp program) {
  DenseSet<Value> known;
  for (BlockArgument argument : program.getArguments())
    if (program.getArgAttr(argument.getArgNumber(), tg::kParam))
      known.insert(argument);
  for (Operation &op : program.getBody().front()) {
    SmallVector<Value> uses = usesOf(&op);
    if (!uses.empty() && llvm::all_of(uses, [&](Value use) { return known.contains(use); }))
      known.insert(op.result_begin(), op.result_end());
  }
  return known;
}

static comm::CollectiveOpInterface collectiveOf(Operation *action) {
  if (auto start = dyn_cast_or_null<comm::StartOp>(action))
    return start.getCollective();
  if (auto wait = dyn_cast_or_null<comm::WaitOp>(action))
    return wait.getStart().getCollective();
  return dyn_cast_or_null<comm::CollectiveOpInterface>(action);
}

//===----------------------------------------------------------------------===//
// Gradients of parameters
//===----------------------------------------------------------------------===//

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// What a collective makes `result` of; null where it is not one tensor for one.
static Value sentFor(comm::CollectiveOpInterface op, OpResult result) {
  return op.getSent().size() == result.getOwner()->getNumResults() ? op.getSent()[result.getResultNumber()] : Value();
}

namespace {
/// Goes from new values of parameters, and of what adds gradients up, back to the
/// gradients: what a kernel reads, element for element, beside what is stored.
class GradientFinder {
public:
  explicit GradientFinder(func::FuncOp program) : parameters(parameterValues(program)) { find(program); }

  const DenseSet<Value> parameters;
  llvm::SetVector<Value> gradients;
  /// Those that are sent to be reduced, with what comes of each.
  SmallVector<std::pair<Value, Value>> reductions;

private:
  void find(func::FuncOp program);
  void addReadBy(Value made);
  void add(Value value) { gradients.insert(rootOf(value)); }
};
} // namespace

/// Adds what is read to make a value by a kernel that goes through it element by
/// element.
void GradientFinder::addReadBy(Value made) {
  auto kernel = made.getDefiningOp<exec::KernelOp>();
  if (!kernel)
    return;
  for (Value read : kernel.getActionIns())
    if (!isa<BlockArgument>(rootOf(read)) && !parameters.contains(read) && elementsOf(read) == elementsOf(made))
      add(read);
}

void GradientFinder::find(func::FuncOp program) {
  llvm::StringSet<> kept; // of gradients: parameters, and sums over microbatches
  for (BlockArgument argument : program.getArguments()) {
    DictionaryAttr attributes = program.getArgAttrDict(argument.getArgNumber());
    auto state = attributes ? attributes.getAs<tg::StateAttr>(tg::kState) : nullptr;
    if ((attributes && attributes.contains(tg::kParam)) || (state && state.isAccumulator()))
      kept.insert(tg::nameOf(attributes).getValue());
  }
  for (OpOperand &returned : program.getBody().front().getTerminator()->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    if (program.getResultAttr(index, tg::kGradOf))
      add(returned.get());
    auto updates = program.getResultAttrOfType<StringAttr>(index, tg::kUpdates);
    if (!updates || !kept.contains(updates.getValue()))
      continue;
    // A new parameter that is gathered is made by whom it is gathered from.
    Value made = rootOf(returned.get());
    while (comm::CollectiveOpInterface op = collectiveOf(made.getDefiningOp())) {
      Value sent = op.getReductionKind() ? Value() : sentFor(op, cast<OpResult>(made));
      if (!sent)
        break;
      made = rootOf(sent);
    }
    if (collectiveOf(made.getDefiningOp()))
      add(made);
    addReadBy(made);
  }
  for (unsigned i = 0; i < gradients.size(); ++i) {
    Value gradient = gradients[i];
    addReadBy(gradient);
    comm::CollectiveOpInterface op = collectiveOf(gradient.getDefiningOp());
    Value sent = op && op.getReductionKind() ? sentFor(op, cast<OpResult>(gradient)) : Value();
    if (!sent)
      continue;
    reductions.push_back({rootOf(sent), gradient});
    add(sent);
  }
}

//===----------------------------------------------------------------------===//
// Categories
//===----------------------------------------------------------------------===//

/// True if a collective makes parameters whole.
static bool gathers(comm::CollectiveOpInterface op, const DenseSet<Value> &parameters) {
  return op && !op.getReductionKind() && !op.getSent().empty() &&
         llvm::all_of(op.getSent(), [&](Value sent) { return parameters.contains(sent); });
}

/// True if a rank copies its part of parameters that it has whole.
static bool takesPart(Operation *action, const DenseSet<Value> &parameters) {
  return isa_and_nonnull<comm::SliceOp>(action) && parameters.contains(action->getOperand(0));
}

std::vector<std::optional<exec::Category>> braid::transientCategories(func::FuncOp program, const Places &places) {
  DenseSet<Operation *> forward = forwardOps(program);
  GradientFinder found(program);
  auto storageOf = [&](Value value) { return places.places.at(value).storage; };
  DenseSet<unsigned> gradients, unreduced;
  for (Value gradient : found.gradients)
    gradients.insert(storageOf(gradient));
  for (auto [sent, reduced] : found.reductions)
    if (storageOf(sent) != storageOf(reduced))
      unreduced.insert(storageOf(sent));
  auto categoryOf = [&](unsigned number, const Storage &storage) {
    if (storage.kind == Storage::Kind::Input)
      return exec::Category::Inputs;
    if (gathers(collectiveOf(storage.writer), found.parameters))
      return exec::Category::Gathered;
    if (takesPart(storage.writer, found.parameters))
      return exec::Category::Workspace;
    if (forward.contains(storage.writer) || !gradients.contains(number))
      return exec::Category::Activations;
    return unreduced.contains(number) ? exec::Category::Buckets : exec::Category::Gradients;
  };
  std::vector<std::optional<exec::Category>> categories(places.storages.size());
  for (auto [number, storage] : llvm::enumerate(places.storages))
    if (storage.kind != Storage::Kind::Persistent)
      categories[number] = categoryOf(number, storage);
  return categories;
}
