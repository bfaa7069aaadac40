//===- Categories.cpp - categories of memory ------------------------------===//

#include "lib/Memory/Categories.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"

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
  case tg::TensorKind::RunningStatistic: // other tensors that training keeps beside parameters
    return exec::Category::OptimizerState;
  case tg::TensorKind::Cache:
    return exec::Category::Caches;
  case tg::TensorKind::Saved:
  case tg::TensorKind::Message:
    return exec::Category::Activations;
  }
  llvm_unreachable("a kind of tensor without a category");
}

static comm::CollectiveOpInterface collectiveOf(Operation *action) {
  if (auto start = dyn_cast_or_null<comm::StartOp>(action))
    return start.getCollective();
  if (auto wait = dyn_cast_or_null<comm::WaitOp>(action))
    return wait.getStart().getCollective();
  return dyn_cast_or_null<comm::CollectiveOpInterface>(action);
}

namespace {
/// Facts of the values in a storage.
struct Contents {
  tg::FactsAttr first;     ///< Facts of the value that is written first.
  bool isGradient = false; ///< Whether one of the values is a gradient.
  bool isReduced = false;  ///< Whether a gradient is sent from here and reduced into another storage.
};
} // namespace

static std::vector<Contents> contentsOf(func::FuncOp program, const Places &places) {
  std::vector<Contents> contents(places.storages.size());
  auto storageOf = [&](Value value) { return places.places.at(value).storage; };
  for (auto action : program.getBody().getOps<exec::ActionOpInterface>()) {
    comm::CollectiveOpInterface collective = collectiveOf(action);
    for (OpResult result : action.getActionResults()) {
      tg::FactsAttr facts = tg::factsOfTensor(result);
      Contents &made = contents[storageOf(result)];
      if (places.storages[storageOf(result)].writer == action && !made.first)
        made.first = facts;
      bool isGradient = tg::isGradient(facts);
      made.isGradient |= isGradient;
      if (!isGradient || !collective || !collective.getReductionKind())
        continue;
      Contents &sent = contents[storageOf(collective.getSent()[result.getResultNumber()])];
      sent.isGradient = true;
      sent.isReduced |= &sent != &made;
    }
  }
  return contents;
}

static exec::Category transientCategory(const Storage &storage, const Contents &contents) {
  if (storage.kind == Storage::Kind::Input)
    return exec::Category::Inputs;
  tg::FactsAttr facts = contents.first;
  // Tensors copied from the host, and new values that may overwrite them.
  if (comm::copyOf(storage.writer) && tg::kindOf(facts))
    return categoryOf(*tg::kindOf(facts));
  comm::CollectiveOpInterface collective = collectiveOf(storage.writer);
  if (tg::isParameter(facts) && isa_and_nonnull<comm::SliceOp>(storage.writer))
    return exec::Category::Workspace;
  bool gathers = collective && !collective.getReductionKind();
  if (tg::isParameter(facts) && facts.getPhase() != tg::Phase::Update && gathers)
    return exec::Category::Gathered;
  if (!contents.isGradient || (facts && facts.getPhase() == tg::Phase::Forward))
    return exec::Category::Activations;
  return contents.isReduced ? exec::Category::Buckets : exec::Category::Gradients;
}

std::vector<std::optional<exec::Category>> braid::transientCategories(func::FuncOp program, const Places &places) {
  std::vector<Contents> contents = contentsOf(program, places);
  std::vector<std::optional<exec::Category>> categories(places.storages.size());
  for (auto [number, storage] : llvm::enumerate(places.storages))
    if (storage.kind != Storage::Kind::Persistent)
      categories[number] = transientCategory(storage, contents[number]);
  return categories;
}
