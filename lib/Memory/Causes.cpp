//===- Causes.cpp - why a transient buffer exists -------------------------===//

#include "lib/Memory/Causes.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Reads.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;

ArrayRef<llvm::StringLiteral> braid::causeNames() {
  static constexpr llvm::StringLiteral names[] = {kParameters,  kGradients,  "optimizer_state", kActivations,
                                                  kBuckets,     kGathered,   kWorkspace,        kInputs};
  return names;
}

/// The results that the forward pass is run for.
static SmallVector<Value> forwardResults(func::FuncOp program, func::ReturnOp ret) {
  SmallVector<Value> named, scalars;
  for (OpOperand &returned : ret->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    auto role = program.getResultAttrOfType<StringAttr>(index, tg::kRole);
    if (role && role != "grad_norm")
      named.push_back(returned.get());
    if (cast<RankedTensorType>(returned.get().getType()).getRank() == 0)
      scalars.push_back(returned.get());
  }
  return named.empty() ? scalars : named;
}

static DenseSet<Operation *> forwardActions(func::FuncOp program) {
  auto ret = cast<func::ReturnOp>(program.getBody().front().getTerminator());
  DenseSet<Operation *> seen;
  SmallVector<Value> work = forwardResults(program, ret);
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && seen.insert(op).second)
      llvm::append_range(work, usesOf(op));
  }
  return seen;
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
  return dyn_cast_or_null<comm::CollectiveOpInterface>(action);
}

/// True if a collective makes parameters whole.
static bool gathers(comm::CollectiveOpInterface op, const DenseSet<Value> &parameters) {
  return op && !op.getReductionKind() && !op.getSent().empty() &&
         llvm::all_of(op.getSent(), [&](Value sent) { return parameters.contains(sent); });
}

/// True if a collective combines several tensors.
static bool isBucket(comm::CollectiveOpInterface op) {
  return op && op.getReductionKind() && op.getSent().size() > 1;
}

std::vector<StringRef> braid::transientCauses(func::FuncOp program, const Places &places) {
  bool trains = false;
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    trains |= program.getResultAttr(i, tg::kUpdates) || program.getResultAttr(i, tg::kGradOf);
  DenseSet<Operation *> forward = forwardActions(program);
  DenseSet<Value> parameters = parameterValues(program);
  auto causeOf = [&](const Storage &storage) -> StringRef {
    comm::CollectiveOpInterface collective = collectiveOf(storage.writer);
    if (storage.kind == Storage::Kind::Input)
      return kInputs;
    if (gathers(collective, parameters))
      return kGathered;
    if (!trains || forward.contains(storage.writer))
      return kActivations;
    return isBucket(collective) ? kBuckets : kGradients;
  };
  std::vector<StringRef> causes;
  for (const Storage &storage : places.storages)
    causes.push_back(storage.kind == Storage::Kind::Persistent ? "" : causeOf(storage));
  return causes;
}
