//===- GraphFacts.cpp - facts of a graph that its programs lack -----------===//

#include "compiler/Driver/GraphFacts.h"
#include "compiler/Driver/ModelIdentity.h"
#include "compiler/Driver/OptimizerText.h"
#include "compiler/Driver/ParallelOptions.h"
#include "dialects/TG/ProgramSignature.h"
#include "passes/FrontEnd/IndexInputs.h"
#include "passes/FrontEnd/LossTargets.h"

using namespace mlir;
using namespace braid;

static std::vector<tg::IndexedBy> indicesOf(func::FuncOp model) {
  std::vector<tg::IndexedBy> indices;
  for (const IndexInput &found : findIndexInputs(model))
    indices.push_back({tg::ArgumentAttrs(found.input).input.str(), found.range.extent, found.range.ignored});
  return indices;
}

static std::optional<tg::IgnoredTargets> ignoredTargetsOf(func::FuncOp model) {
  std::optional<LossTargets> found = findLossTargets(model);
  StringAttr name = found ? tg::ArgumentAttrs(found->input).input : StringAttr();
  if (!name)
    return std::nullopt;
  bool isMean = found->reduction == tg::LossReduction::Mean;
  return tg::IgnoredTargets{name.str(), found->ignored, isMean, found->leavesOutRows};
}

tg::TrainingFacts braid::factsOf(func::FuncOp model, StringRef name, const DriverOptions &options) {
  tg::TrainingFacts facts{name.str(),       optimizerText(options),  options.accumulate,
                          indicesOf(model), ignoredTargetsOf(model), identityOf(model)};
  if (options.emit == Emit::Exec) // planning its text later needs the same options
    facts.options = optionsOfPrograms(options);
  return facts;
}
