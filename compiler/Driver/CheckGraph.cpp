//===- CheckGraph.cpp - checks that a module is a training graph ----------===//

#include "compiler/Driver/CheckGraph.h"
#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/WholeSteps.h"
#include "dialects/Interfaces/Divisors.h"
#include "lib/Sharding/GlobalFunction.h"
#include "passes/Base/Signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace braid;

/// Checks that all microbatches of all ranks get the same number of rows.
static LogicalResult checkBatch(func::FuncOp model, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  int64_t ranks = numRanks(parallel, batchAxes(parallel)), parts = ranks * options.accumulate;
  for (BlockArgument input : batchInputs(model)) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (ranks == 1 || !type || type.getRank() == 0 || type.getDimSize(0) % parts == 0)
      continue;
    InFlightDiagnostic diagnostic = mlir::emitError(input.getLoc());
    diagnostic << "the batch of " << type.getDimSize(0) << " does not divide over " << ranks << " ranks";
    if (options.accumulate > 1)
      diagnostic << " with " << options.accumulate << " microbatches each, " << parts << " in all";
    return diagnostic << " (--mesh=" << parallel.meshText << "): make the graph for a multiple of " << parts << " ("
                      << nearestDivisibleSizes(type.getDimSize(0), parts) << ")";
  }
  return success();
}

/// Checks that all ranks along cp (with --sequence-parallel also along tp) get the same number of positions of each row
/// of tokens.
static LogicalResult checkSequence(func::FuncOp model, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  int64_t ranks = numRanks(parallel, parallel.along(AxisUse::Sequence));
  if (options.passes.tensor.sequence)
    ranks *= numRanks(parallel, parallel.tensorAxes);
  BlockArgument tokens = argumentWithRole(model, tg::Role::Tokens);
  auto type = tokens ? dyn_cast<RankedTensorType>(tokens.getType()) : RankedTensorType();
  if (ranks == 1 || !type || type.getRank() != 2 || type.getDimSize(1) % ranks == 0)
    return success();
  return mlir::emitError(tokens.getLoc()) << "the sequence of " << type.getDimSize(1) << " tokens does not divide over "
                                          << ranks << " ranks (--mesh=" << parallel.meshText
                                          << (options.passes.tensor.sequence ? " with --sequence-parallel" : "")
                                          << "): make the graph with --seq a multiple of " << ranks << " ("
                                          << nearestDivisibleSizes(type.getDimSize(1), ranks) << ")";
}

LogicalResult braid::checkInputs(func::FuncOp model, const DriverOptions &options) {
  return success(succeeded(checkBatch(model, options)) && succeeded(checkSequence(model, options)));
}

LogicalResult braid::checkGraph(ModuleOp module, const DriverOptions &options) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || functions.front().getSymName() != "model")
    return module.emitError() << "expected a training graph, which is one function @model, but the module has "
                              << functions.size() << " functions" << (functions.empty() ? "" : ", the first being @")
                              << (functions.empty() ? "" : functions.front().getSymName());
  func::FuncOp model = functions.front();
  if (resultWithRole(model, tg::Role::Loss))
    return success(succeeded(checkWholeStep(model, options)) && succeeded(checkInputs(model, options)));
  InFlightDiagnostic diagnostic =
      model.emitError() << "no result of @model has tg.role = #tg.role<loss>, which marks the loss to train; ";
  if (model.getNumResults() == 0)
    return diagnostic << "it has no results";
  diagnostic << "its results are ";
  llvm::interleaveComma(llvm::seq(model.getNumResults()), diagnostic,
                        [&](unsigned i) { diagnostic << nameOfResult(model, i); });
  return diagnostic;
}
