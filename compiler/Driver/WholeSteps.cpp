//===- WholeSteps.cpp - graphs that update their parameters ---------------===//

#include "compiler/Driver/WholeSteps.h"
#include "dialects/TG/ProgramSignature.h"

using namespace mlir;
using namespace braid;
using llvm::StringLiteral;

namespace {
/// Options that need what a whole step lacks, and the reason to refuse them.
struct Refusal {
  StringLiteral reason;
  llvm::ArrayRef<StringLiteral> options;
};
} // namespace

static constexpr StringLiteral kOfOptimizer[] = {"--optimizer", "--hyperparameters", "--decay-exclude", "--clip",
                                                 "--optimizer-state"};
static constexpr StringLiteral kOfGradients[] = {"--accumulate",       "--hook",       "--grad-dtype",
                                                 "--reduce-dtype",     "--recompute",  "--recompute-file",
                                                 "--recompute-budget", "--loss-chunk", "--offload"};
static constexpr StringLiteral kOfRanks[] = {"--mesh",   "--zero",        "--strategy", "--compare",
                                             "--layout", "--noise-scale", "--fold",     "--stages"};
static constexpr Refusal kRefusals[] = {
    {"has an optimizer of its own", kOfOptimizer},
    {"has gradients of its own, which this option cannot change", kOfGradients},
    {"is compiled for one rank", kOfRanks},
};

bool braid::isWholeStep(func::FuncOp model) { return tg::ProgramSignature(model).updatesParameters(); }

static LogicalResult refuse(func::FuncOp model, llvm::StringRef option, llvm::StringRef reason) {
  return model.emitError() << option << ": @model is a whole training step, which updates its parameters itself and "
                           << reason << "; leave the option out, or compile a graph of the loss alone";
}

LogicalResult braid::checkWholeStep(func::FuncOp model, const DriverOptions &options) {
  if (!isWholeStep(model))
    return success();
  for (const auto &[reason, names] : kRefusals)
    for (StringLiteral name : names)
      if (options.has(name))
        return refuse(model, name, reason);
  if (options.isMixed())
    return refuse(model, "--precision=bf16", kRefusals[1].reason);
  if (options.optimizer.hyperparameters.empty())
    return success();
  llvm::StringRef given = llvm::StringRef(options.optimizer.hyperparameters.front()).split('=').first;
  return refuse(model, ("the hyperparameter " + given).str(), kRefusals[0].reason);
}
