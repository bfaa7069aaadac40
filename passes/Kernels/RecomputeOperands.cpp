//===- RecomputeOperands.cpp - recompute operands inside kernels ----------===//
//
// A kernel that saves an activation and a kernel that reads it in backward often read other tensors in common. If the
// activation is elementwise in those tensors, the second kernel computes it from its registers. It then does not read
// the activation, and without other readers the activation is neither written nor kept.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Base/Signature.h"
#include "passes/Kernels/KernelSpace.h"
#define GEN_PASS_DEF_RECOMPUTEOPERANDSPASS
#include "passes/Kernels/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Recomputable values
//===----------------------------------------------------------------------===//

/// Whether each element depends only on the elements at its own coordinates: no indices, no random numbers, no
/// broadcasts.
static bool isPointwise(GenericOp generic) {
  return generic.getNumParallelLoops() == generic.getNumLoops() &&
         llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) &&
         llvm::all_of(generic.getBody()->without_terminator(), [](Operation &op) {
           return op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::Elementwise>();
         });
}

namespace {
/// An operand of `reader`, and the generics of its producer that compute it, in order.
struct Recomputation {
  exec::KernelOp producer, reader;
  unsigned operand;
  llvm::SetVector<Operation *> generics;

  bool find();
  void apply();

private:
  bool addSlice(Value value);
  std::optional<unsigned> operandLike(BlockArgument argument);
};
} // namespace

/// Returns the reader's operand that equals this operand of the producer, at the coordinates of the recomputed
/// operand.
std::optional<unsigned> Recomputation::operandLike(BlockArgument argument) {
  Value source = producer.getIns()[argument.getArgNumber()];
  for (auto [index, value] : llvm::enumerate(reader.getIns()))
    if (value == source && operandDimsOf(reader, index) == operandDimsOf(reader, operand))
      return index;
  return std::nullopt;
}

bool Recomputation::addSlice(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return operandLike(argument).has_value();
  auto generic = value.getDefiningOp<GenericOp>();
  if (generic && generics.contains(generic))
    return true;
  if (!generic || !isPointwise(generic) || !llvm::all_of(generic.getInputs(), [&](Value in) { return addSlice(in); }))
    return false;
  generics.insert(generic);
  return true;
}

bool Recomputation::find() {
  auto result = dyn_cast<OpResult>(reader.getIns()[operand]);
  producer = result ? dyn_cast<exec::KernelOp>(result.getOwner()) : nullptr;
  if (!producer || !operandDimsOf(reader, operand))
    return false;
  Value made = producer.getBlock()->getTerminator()->getOperand(result.getResultNumber());
  return made.getDefiningOp() && addSlice(made);
}

/// Clones the generics into the reader, with its own loop numbers, and removes the operand.
void Recomputation::apply() {
  Block &body = *reader.getBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto dims = builder.getDenseI64ArrayAttr(*operandDimsOf(reader, operand));
  std::optional<tg::Phase> phase = tg::phaseOf(reader);
  IRMapping values;
  for (BlockArgument argument : producer.getBlock()->getArguments())
    if (std::optional<unsigned> known = operandLike(argument))
      values.map(argument, body.getArgument(*known));
  Value computed;
  for (Operation *generic : generics) {
    builder.clone(*cast<GenericOp>(generic).getDpsInitOperand(0)->get().getDefiningOp(), values);
    Operation *copy = builder.clone(*generic, values);
    copy->setAttr(exec::ExecDialect::kDims, dims);
    if (phase)
      copy->setLoc(tg::withPhase(copy->getLoc(), *phase));
    computed = copy->getResult(0);
  }
  body.getArgument(operand).replaceAllUsesWith(computed);
  body.eraseArgument(operand);
  reader.getInsMutable().erase(operand);
}

//===----------------------------------------------------------------------===//
// Removal of results without readers
//===----------------------------------------------------------------------===//

static void dropUnreadResults(exec::KernelOp kernel) {
  unsigned count = kernel->getNumResults();
  SmallVector<Value> read, yielded;
  SmallVector<tg::FactsAttr> facts;
  Operation *yield = kernel.getBlock()->getTerminator();
  for (OpResult result : kernel->getResults())
    if (!result.use_empty()) {
      read.push_back(result);
      yielded.push_back(yield->getOperand(result.getResultNumber()));
      facts.push_back(tg::factsOfTensor(kernel.getLoc(), result.getResultNumber(), count));
    }
  if (read.size() == count)
    return;
  if (read.empty())
    return kernel.erase();
  yield->setOperands(yielded);
  eraseDeadOps(*kernel.getBlock());
  OpBuilder builder(kernel);
  auto smaller = builder.create<exec::KernelOp>(tg::withFacts(kernel.getLoc(), facts), ValueRange(yielded).getTypes(),
                                                kernel.getName(), kernel.getIns(), ValueRange(), kernel.getSpace());
  smaller.getBody().takeBody(kernel.getBody());
  for (auto [before, after] : llvm::zip(read, smaller.getResults()))
    before.replaceAllUsesWith(after);
  kernel.erase();
}

namespace {
struct RecomputeOperandsPass : public braid::impl::RecomputeOperandsPassBase<RecomputeOperandsPass> {
  void runOnOperation() final {
    if (getOperation().isExternal())
      return;
    SmallVector<exec::KernelOp> kernels(getOperation().getBody().front().getOps<exec::KernelOp>());
    llvm::SetVector<Operation *> producers;
    for (exec::KernelOp kernel : kernels)
      recompute(kernel, producers);
    for (Operation *producer : producers)
      dropUnreadResults(cast<exec::KernelOp>(producer));
  }

  void recompute(exec::KernelOp kernel, llvm::SetVector<Operation *> &producers) {
    bool changed = false;
    for (unsigned operand = kernel.getIns().size(); operand-- > 0;) {
      Recomputation recomputation{{}, kernel, operand, {}};
      if (!recomputation.find())
        continue;
      recomputation.apply();
      producers.insert(recomputation.producer);
      changed = true;
    }
    if (!changed)
      return;
    IRRewriter rewriter(kernel.getContext());
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
  }
};
} // namespace
