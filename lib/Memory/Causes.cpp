//===- Causes.cpp - why a transient buffer exists -------------------------===//

#include "lib/Memory/Causes.h"
#include "dialects/TG/TG.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;

ArrayRef<llvm::StringLiteral> braid::causeNames() {
  static constexpr llvm::StringLiteral names[] = {kParameters,  kGradients,  "optimizer_state", kActivations,
                                                  "buckets",    "gathered",  kWorkspace,        kInputs};
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
      llvm::append_range(work, op->getOperands());
  }
  return seen;
}

std::vector<StringRef> braid::transientCauses(func::FuncOp program, const Places &places) {
  bool trains = false;
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    trains |= program.getResultAttr(i, tg::kUpdates) || program.getResultAttr(i, tg::kGradOf);
  DenseSet<Operation *> forward = forwardActions(program);
  std::vector<StringRef> causes;
  for (const Storage &storage : places.storages) {
    if (storage.kind == Storage::Kind::Persistent)
      causes.push_back("");
    else if (storage.kind == Storage::Kind::Input)
      causes.push_back(kInputs);
    else
      causes.push_back(trains && !forward.contains(storage.writer) ? kGradients : kActivations);
  }
  return causes;
}
