//===- Causes.cpp - why a transient buffer exists -------------------------===//

#include "lib/Memory/Causes.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Reads.h"
#include "lib/Schedule/Forward.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;

ArrayRef<llvm::StringLiteral> braid::causeNames() {
  static constexpr llvm::StringLiteral names[] = {kParameters,  kGradients,  "optimizer_state", kActivations,
                                                  kBuckets,     kGathered,   kWorkspace,        kInputs};
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
  DenseSet<Operation *> forward = forwardOps(program);
  DenseSet<Value> parameters = parameterValues(program);
  auto causeOf = [&](const Storage &storage) -> StringRef {
    comm::CollectiveOpInterface collective = collectiveOf(storage.writer);
    if (storage.kind == Storage::Kind::Input)
      return kInputs;
    if (gathers(collective, parameters))
      return kGathered;
    if (forward.contains(storage.writer))
      return kActivations;
    return isBucket(collective) ? kBuckets : kGradients;
  };
  std::vector<StringRef> causes;
  for (const Storage &storage : places.storages)
    causes.push_back(storage.kind == Storage::Kind::Persistent ? "" : causeOf(storage));
  return causes;
}
