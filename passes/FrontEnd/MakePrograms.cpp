//===- MakePrograms.cpp - programs of one model ---------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/BatchDims.h"
#include "passes/FrontEnd/ForwardFacts.h"
#define GEN_PASS_DEF_MAKEPROGRAMSPASS
#include "passes/FrontEnd/Passes.h"
#include "passes/FrontEnd/PositionRow.h"
#include "passes/FrontEnd/TrainingOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace braid;
using tg::ContractOp;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Whether a result is a prediction: an additional output of the model, or logits other than next-token logits of
/// text.
static bool isPrediction(func::FuncOp function, unsigned result) {
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[result]);
  if (!type || type.getRank() == 0)
    return false;
  tg::ResultAttrs attributes(function, result);
  return attributes.output || (attributes.hasRole(tg::Role::Logits) && !argumentWithRole(function, tg::Role::Tokens));
}

/// Whether a program returns a result of the model. Only a training step also returns the model state that it updates;
/// the other programs read this state.
static bool isReturnedBy(func::FuncOp function, unsigned result, StringRef program) {
  tg::ResultAttrs attributes(function, result);
  if (program == "generate")
    return attributes.hasRole(tg::Role::Logits);
  if (program == "predict")
    return isPrediction(function, result);
  return attributes.hasRole(tg::Role::Loss) || isCounted(function, result) ||
         (program == "train" && attributes.updates);
}

static void keepResultsOf(func::FuncOp function, StringRef program) {
  eraseResults(function, [&](unsigned result) { return !isReturnedBy(function, result, program); });
}

void braid::removeTrainingOps(func::FuncOp function) {
  function.walk([](TrainingOpInterface op) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(op.buildInference(builder));
    op->erase();
  });
}

/// Replaces training ops without a gradient by their definitions.
static void defineTrainingOps(func::FuncOp function) {
  function.walk([](TrainingOpInterface op) {
    if (isa<DifferentiableOpInterface>(op.getOperation()))
      return;
    OpBuilder builder(op);
    tg::replaceAndTransferFacts(op, cast<DecomposableOpInterface>(op.getOperation()).decompose(builder));
  });
}

/// Returns a copy for inference that computes the results of one program.
static func::FuncOp copyFor(func::FuncOp model, StringRef program) {
  func::FuncOp copy = model.clone();
  copy.setName(program);
  keepResultsOf(copy, program);
  removeTrainingOps(copy);
  eraseDeadOps(copy);
  eraseUnusedInputs(copy);
  return copy;
}

//===----------------------------------------------------------------------===//
// The logits of one position
//===----------------------------------------------------------------------===//

/// Returns the number of leading dims that logits share with a contraction's operand. A picked row of the operand then
/// gives the same row of the result: "bsd,vd->bsv" has 2.
static std::optional<unsigned> sharedLeadingDims(ContractOp contract) {
  tg::ContractionAttr dims = contract.getContraction();
  StringRef result = dims.getResult(), lhs = dims.getLhs(), rhs = dims.getRhs();
  if (result.size() < 2)
    return std::nullopt;
  StringRef leading = result.drop_back();
  bool picks = lhs.starts_with(leading) && !lhs.contains(result.back()) &&
               llvm::none_of(leading, [&](char letter) { return rhs.contains(letter); });
  return picks ? std::optional<unsigned>(leading.size()) : std::nullopt;
}

/// Replaces logits by a vector, those of `position`. Hooks on logits then apply to this vector.
static Value pickLogits(tg::TensorBuilder &b, Value logits, int64_t rows, Value position) {
  int64_t vocabulary = tg::typeOf(logits).getShape().back();
  Type element = tg::typeOf(logits).getElementType();
  SmallVector<tg::HookOp> hooks;
  while (auto *op = logits.getDefiningOp()) {
    auto hook = dyn_cast<tg::HookOp>(op);
    if (!op->hasTrait<KeepsElements>() && !hook)
      break;
    auto type = tg::typeOf(op->getOperand(0));
    if (type.getRank() == 0 || type.getShape().back() != vocabulary)
      break; // rows differ from here on
    if (hook)
      hooks.push_back(hook);
    logits = op->getOperand(0);
  }
  auto contract = logits.getDefiningOp<ContractOp>();
  std::optional<unsigned> leading = contract ? sharedLeadingDims(contract) : std::nullopt;
  if (leading) {
    Value row = extractRow(b, contract.getLhs(), *leading, rows, position);
    logits = b.make<ContractOp>(contract.getContraction(), row, contract.getRhs());
  } else {
    logits = extractRow(b, logits, tg::typeOf(logits).getRank() - 1, rows, position);
  }
  for (tg::HookOp hook : llvm::reverse(hooks))
    logits = b.make<tg::HookOp>(logits, hook.getNameAttr(), hook.getOrderAttr());
  return b.reshape(b.convert(logits, element), {vocabulary});
}

static LogicalResult completeGenerate(func::FuncOp function) {
  BlockArgument tokens = argumentWithRole(function, tg::Role::Tokens);
  unsigned result = *resultWithRole(function, tg::Role::Logits);
  FailureOr<BatchDims> dims = BatchDims::find(function);
  if (failed(dims) || failed(dims->resize(function, 1)))
    return failure();
  Value logits = returnOf(function).getOperand(result);
  RankedTensorType type = tg::typeOf(logits), sequence = tg::typeOf(tokens);
  if (type.getRank() < 2 || sequence.getRank() != 2 ||
      type.getNumElements() != sequence.getDimSize(1) * type.getShape().back())
    return function.emitError() << "logits " << type
                                << " of one example must have a row for each position of the tokens " << sequence
                                << "; leave out the program generate";
  OpBuilder builder(returnOf(function));
  SignatureEditor editor(function);
  BlockArgument position = editor.scalarInput(tg::Role::Position, builder.getI32Type());
  editor.finish();
  tg::TensorBuilder b(builder, logits.getLoc());
  returnOf(function).setOperand(result, pickLogits(b, logits, sequence.getDimSize(1), position));
  updateType(function);
  eraseDeadOps(function);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPrograms[] = {"train", "eval", "generate", "predict"};

namespace {
struct MakePrograms final : braid::impl::MakeProgramsPassBase<MakePrograms> {
  using MakeProgramsPassBase::MakeProgramsPassBase;

  /// Returns what the model lacks for `program`; empty if nothing.
  static StringRef missing(func::FuncOp function, StringRef program) {
    if (program == "predict")
      return llvm::any_of(llvm::seq(function.getNumResults()), [&](unsigned i) { return isPrediction(function, i); })
                 ? ""
                 : "a tensor among its results with tg.output";
    if (program != "generate")
      return resultWithRole(function, tg::Role::Loss) ? "" : "a result with the role loss";
    if (!resultWithRole(function, tg::Role::Logits))
      return "a result with the role logits";
    return argumentWithRole(function, tg::Role::Tokens) ? "" : "an input with the role tokens";
  }

  /// Returns the programs to make, after checking that the model has the required roles.
  FailureOr<SmallVector<StringRef>> choose(func::FuncOp function) {
    SmallVector<StringRef> chosen;
    for (StringRef program : kPrograms)
      if (llvm::is_contained(programs, program) ||
          (programs.empty() && !llvm::is_contained(without, program) && missing(function, program).empty()))
        chosen.push_back(program);
    for (StringRef program : llvm::concat<const std::string>(programs, without))
      if (!llvm::is_contained(kPrograms, program))
        return function.emitError() << "unknown program '" << program << "'; expected train, eval, generate or predict";
    for (StringRef program : chosen)
      if (StringRef what = missing(function, program); !what.empty())
        return function.emitError() << "program '" << program << "' needs " << what << ", which '" << function.getName()
                                    << "' does not have";
    if (chosen.empty())
      return function.emitError() << "'" << function.getName() << "' has no result with the role loss or logits";
    return chosen;
  }

  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    auto function = symbols.lookup<func::FuncOp>(model);
    if (!function || function.isExternal()) {
      getOperation().emitError() << "no function '" << model.getValue() << "' to make programs from";
      return signalPassFailure();
    }
    auto chosen = choose(function);
    if (failed(chosen))
      return signalPassFailure();
    symbols.remove(function);
    for (StringRef program : *chosen) {
      if (symbols.lookup(program)) {
        function.emitError() << "the module already has a function '" << program << "'; rename it";
        return signalPassFailure();
      }
      symbols.insert(make(function, program), Block::iterator(function));
    }
    function.erase();
    for (StringRef program : *chosen)
      if (program == "generate" && failed(completeGenerate(symbols.lookup<func::FuncOp>(program))))
        return signalPassFailure();
    for (StringRef program : *chosen)
      setForwardFacts(symbols.lookup<func::FuncOp>(program));
  }

  static func::FuncOp make(func::FuncOp function, StringRef program) {
    if (program != "train")
      return copyFor(function, program);
    func::FuncOp train = function.clone();
    train.setName(program);
    defineTrainingOps(train);
    keepResultsOf(train, program);
    eraseDeadOps(train);
    return train;
  }
};
} // namespace
