//===- Causes.cpp - why a transient buffer exists -------------------------===//

#include "lib/Memory/Causes.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Reads.h"
#include "lib/Schedule/Forward.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

ArrayRef<llvm::StringLiteral> braid::causeNames() {
  static constexpr llvm::StringLiteral names[] = {kParameters, kGradients, "optimizer_state", kActivations,
                                                  kBuckets,    kGathered,  kWorkspace,        kInputs};
  return names;
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
    if ((attributes && attributes.contains(tg::kParam)) || (state && state.getScratch()))
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
// Causes
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

std::vector<StringRef> braid::transientCauses(func::FuncOp program, const Places &places) {
  DenseSet<Operation *> forward = forwardOps(program);
  GradientFinder found(program);
  auto storageOf = [&](Value value) { return places.places.at(value).storage; };
  DenseSet<unsigned> gradients, unreduced;
  for (Value gradient : found.gradients)
    gradients.insert(storageOf(gradient));
  for (auto [sent, reduced] : found.reductions)
    if (storageOf(sent) != storageOf(reduced))
      unreduced.insert(storageOf(sent));
  auto causeOf = [&](unsigned number, const Storage &storage) -> StringRef {
    if (storage.kind == Storage::Kind::Input)
      return kInputs;
    if (gathers(collectiveOf(storage.writer), found.parameters))
      return kGathered;
    if (takesPart(storage.writer, found.parameters))
      return kWorkspace;
    if (forward.contains(storage.writer) || !gradients.contains(number))
      return kActivations;
    return unreduced.contains(number) ? kBuckets : kGradients;
  };
  std::vector<StringRef> causes;
  for (auto [number, storage] : llvm::enumerate(places.storages))
    causes.push_back(storage.kind == Storage::Kind::Persistent ? "" : causeOf(number, storage));
  return causes;
}
