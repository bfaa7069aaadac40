//===- GraphFacts.cpp - facts of a graph that its programs lack -----------===//

#include "compiler/Driver/GraphFacts.h"
#include "compiler/Driver/ModelIdentity.h"
#include "compiler/Driver/OptimizerText.h"
#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/WholeSteps.h"
#include "passes/FrontEnd/InputFacts.h"

using namespace mlir;
using namespace braid;

tg::TrainingFacts braid::factsOf(func::FuncOp model, StringRef name, const DriverOptions &options) {
  // A checkpoint of a whole step has the states of the step's own optimizer.
  std::string optimizer = isWholeStep(model) ? "of the graph" : optimizerText(options);
  tg::TrainingFacts facts{
      name.str(), optimizer, options.accumulate, findIndexInputs(model), findIgnoredTargets(model), identityOf(model)};
  if (options.emit == Emit::Exec) // planning its text later needs the same options
    facts.options = optionsOfPrograms(options);
  return facts;
}
