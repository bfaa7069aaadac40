//===- FormKernels.cpp - one kernel for each computing op -----------------===//
//
// Each remaining graph op that is not a call or a view becomes a kernel. Values without memory (InlineValues.h) are
// written into their readers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Base/Signature.h"
#include "passes/Kernels/KernelNames.h"
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/Kernels/Passes.h"
#include "passes/Kernels/RowReduction.h"
#include "passes/Select/InlineValues.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Kernels of one op
//===----------------------------------------------------------------------===//

static Value formElementwise(OpBuilder &builder, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> dims = allDims(type);
  KernelBuilder kernel(builder, op->getLoc(), kernelNameOf(op), spaceOf(type));
  InlineExpression expression(builder, op->getLoc());
  for (Value operand : op->getOperands())
    expression.collect(kernel, operand, dims);
  Value result =
      kernel.parallel(dims, expression.getReads(), type.getElementType(), [&](OpBuilder &body, ValueRange scalars) {
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(expression.emit(body, scalars, operand, dims));
        return emitScalar(body, op->getLoc(), op, operands);
      });
  return kernel.finish(result).getResult(0);
}

/// Builds the random numbers of a whole tensor, or of a block of one.
static Value formRandom(OpBuilder &builder, tg::RandomUniformOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto whole = RankedTensorType::get(op.getWholeShape(), type.getElementType());
  SmallVector<int64_t> dims = allDims(type), strides = exec::rowMajor(whole.getShape()), steps;
  if (!op.getOffsets().empty())
    steps = strides;
  KernelBuilder kernel(builder, op.getLoc(), kernelNameOf(op), spaceOf(type));
  Value key = kernel.operand(op.getKey());
  InlineExpression expression(builder, op.getLoc());
  for (Value offset : op.getOffsets())
    expression.collect(kernel, offset, {});
  Value result = kernel.parallel(
      dims, expression.getReads(), type.getElementType(), [&](OpBuilder &body, ValueRange scalars) -> Value {
        SmallVector<Value> indices, offsets;
        for (int64_t dim : dims)
          indices.push_back(body.create<linalg::IndexOp>(op.getLoc(), dim));
        for (Value offset : op.getOffsets())
          offsets.push_back(expression.emit(body, scalars, offset, {}));
        return body.create<exec::RandomUniformOp>(op.getLoc(), type.getElementType(), key, indices, offsets, strides,
                                                  steps, whole.getNumElements(), op.getStream());
      });
  return kernel.finish(result).getResult(0);
}

//===----------------------------------------------------------------------===//
// Values outside kernels
//===----------------------------------------------------------------------===//

/// Whether an op stays: calls, views, collectives, and ops that give a rank its part of a tensor.
static bool isSelected(Operation *op) { return isa<exec::ExecDialect, comm::CommDialect>(op->getDialect()); }

namespace {
/// Numbers values so that equal pure computations have equal numbers.
class ValueNumbers {
public:
  /// Returns the first value with the same computation as this one.
  Value of(Value value) const {
    auto found = firsts.find(value);
    return found == firsts.end() ? value : found->second;
  }
  void add(Operation *op) {
    llvm::hash_code hash = OperationEquivalence::computeHash(
        op, [&](Value operand) { return OperationEquivalence::directHashValue(of(operand)); },
        OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
    SmallVector<Operation *, 1> &known = byHash[hash];
    auto *first = llvm::find_if(known, [&](Operation *other) { return isEqual(op, other); });
    if (first == known.end())
      known.push_back(op);
    else
      firsts[op->getResult(0)] = (*first)->getResult(0);
  }

private:
  bool isEqual(Operation *a, Operation *b) const {
    return OperationEquivalence::isEquivalentTo(
        a, b, [&](Value x, Value y) { return success(of(x) == of(y)); }, nullptr,
        OperationEquivalence::IgnoreLocations);
  }

  DenseMap<Value, Value> firsts;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> byHash;
};
} // namespace

/// Merges equal computations that would otherwise be repeated. These are scalars, each of which would be a launch:
/// bias corrections and clipping factors, written once per parameter, and the number of targets, computed by loss and
/// gradient. They are also tables that depend on no data: the angles of a rotary embedding, written once per layer.
static void mergeScalarsAndTables(func::FuncOp function) {
  ValueNumbers numbers;
  llvm::SmallPtrSet<Operation *, 32> tables;
  Block &block = function.getBody().front();
  for (Operation &op : block) {
    auto type = op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    if (!type || isSelected(&op) || !isPure(&op))
      continue;
    numbers.add(&op);
    bool isTable = isExpression(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
                     return operand.getDefiningOp() && tables.contains(operand.getDefiningOp());
                   });
    if (isTable)
      tables.insert(&op);
    if (Value first = numbers.of(op.getResult(0)); first != op.getResult(0) && (isTable || type.getRank() == 0))
      op.getResult(0).replaceAllUsesWith(first);
  }
  eraseDeadOps(block);
}

/// Whether actions wrote a value, alone or concatenated.
static bool isWritten(Value value) {
  if (auto concat = value.getDefiningOp<exec::ConcatOp>())
    return llvm::all_of(concat.getInputs(), isWritten);
  return value.getDefiningOp<exec::ActionOpInterface>();
}

/// Whether the function may return `value` directly: actions wrote it, or it is a parameter that is its own update.
static bool isReturnable(func::FuncOp function, unsigned result, Value value) {
  if (auto view = value.getDefiningOp<exec::ViewOp>())
    return exec::isReshape(view) && isWritten(view.getSource());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return true;
  StringAttr updated = tg::ResultAttrs(function, result).updates;
  return updated && updated == tg::ArgumentAttrs(argument).persistentName();
}

/// Returns the operands of an op, including those of the collective in a start.
static SmallVector<OpOperand *> operandsOf(Operation *op) {
  SmallVector<OpOperand *> operands;
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      operands.push_back(&operand);
  });
  return operands;
}

/// Gives memory to inlined values that are read outside expressions: by calls, collectives, views, reductions, random
/// ops (as a key) and returns. A reduction reads bf16 directly.
static void materialize(func::FuncOp function) {
  DenseMap<Value, Value> copies;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    bool isReturn = op.hasTrait<OpTrait::IsTerminator>();
    if (isExpression(&op) || isa<exec::KernelOp>(op))
      continue;
    for (OpOperand *operand : operandsOf(&op)) {
      Value value = operand->get();
      // The offsets of a random block are scalars, which its kernel inlines.
      if (isa<tg::RandomUniformOp>(op) && operand->getOperandNumber() > 0)
        continue;
      if (auto reduce = dyn_cast<tg::ReduceOp>(op); reduce && reducedTensor(reduce) != value)
        continue;
      bool isReturned = isReturn && !isReturnable(function, operand->getOperandNumber(), value);
      if (!isInlined(value) && !isReturned)
        continue;
      Value &copy = copies[value];
      if (!copy) {
        OpBuilder builder(&op);
        if (Operation *source = value.getDefiningOp())
          builder.setInsertionPointAfter(source);
        // The copy of a returned argument belongs to no op. A sum of the loss is forward, others are update.
        Location loc = value.getLoc();
        if (auto argument = dyn_cast<BlockArgument>(value); isReturned && argument && isTraining(function)) {
          tg::StateAttr state = stateOf(argument);
          loc = tg::withPhase(loc, state && state.isOfLoss() ? tg::Phase::Forward : tg::Phase::Update);
        }
        StringRef name = value.getDefiningOp<arith::ConstantOp>() ? "fill" : "copy";
        copy = copyToMemory(builder, loc, name, value);
      }
      operand->set(copy);
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FormKernelsPass : public braid::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() final {
    const TargetInfo *info = targetOf(getOperation());
    if (!info)
      return signalPassFailure();
    if (getOperation().isExternal())
      return;
    mergeScalarsAndTables(getOperation());
    materialize(getOperation());
    SmallVector<Operation *> replaced;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (isSelected(&op) || op.hasTrait<OpTrait::IsTerminator>())
        continue;
      replaced.push_back(&op);
      if (op.getNumResults() == 1 && isInlined(op.getResult(0)))
        continue;
      FailureOr<Value> value = form(&op, *info);
      if (failed(value))
        return signalPassFailure();
      op.getResult(0).replaceAllUsesWith(*value);
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }

  FailureOr<Value> form(Operation *op, const TargetInfo &info) {
    OpBuilder builder(op);
    if (auto random = dyn_cast<tg::RandomUniformOp>(op))
      return formRandom(builder, random);
    if (auto reduce = dyn_cast<tg::ReduceOp>(op))
      return formReduction(builder, reduce, info.reductionBlocks);
    if (isElementwise(op))
      return formElementwise(builder, op);
    if (isa<arith::ConstantOp>(op))
      return op->emitError() << "dense constant of type " << op->getResult(0).getType()
                             << " is too large for the code of a kernel; pass it as an input";
    return op->emitError() << "no kernel computes " << op->getName() << "; decompose it or select it as a call first";
  }
};
} // namespace
