//===- TGGradients.cpp - reverse mode over straight-line code -------------===//

#include "dialects/TG/TGGradients.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Sums of gradient contributions
//===----------------------------------------------------------------------===//

/// Returns the pad op if `value` pads something with zeros; else null.
static PadOp zeroPad(Value value) {
  auto pad = value.getDefiningOp<PadOp>();
  return pad && pad.getValue().isZero() ? pad : PadOp();
}

/// Appends the operands of a concat along `dim`, or the value itself.
static void appendParts(Value value, uint64_t dim, SmallVectorImpl<Value> &parts) {
  if (auto concat = value.getDefiningOp<ConcatOp>(); concat && concat.getDim() == dim)
    llvm::append_range(parts, concat.getInputs());
  else
    parts.push_back(value);
}

/// Returns the sum of two contributions. The gradient of a slice is a pad with zeros.
/// Pads of adjacent slices (query, key and value of one matmul) become a concat, which
/// writes every element once and adds nothing.
static Value sumOf(TensorBuilder &t, Value a, Value b) {
  PadOp first = zeroPad(a), second = zeroPad(b);
  if (!first || !second || first.getDim() != second.getDim())
    return t.add(a, b);
  uint64_t dim = first.getDim();
  auto end = [&](PadOp pad) { return pad.getLow() + pad.getInput().getType().getDimSize(dim); };
  if (first.getLow() == end(second))
    std::swap(first, second);
  if (second.getLow() != end(first))
    return t.add(a, b);
  SmallVector<Value> parts;
  appendParts(first.getInput(), dim, parts);
  appendParts(second.getInput(), dim, parts);
  return t.padZeros(t.make<ConcatOp>(parts, dim), dim, first.getLow(), second.getHigh());
}

void ReverseMode::seed(Value value, Value gradient) {
  TensorBuilder t(builder, gradient.getLoc());
  Value &sum = gradients[value];
  sum = sum ? sumOf(t, sum, gradient) : gradient;
  if (auto parts = contributions.find(value); parts != contributions.end())
    parts->second.append({gradient, sum});
}

//===----------------------------------------------------------------------===//
// Reverse walk
//===----------------------------------------------------------------------===//

void ReverseMode::markActive(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return active.contains(operand); }))
      active.insert(op->result_begin(), op->result_end());
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    if (failed(visit(op))) {
      blocker = op;
      return failure();
    }
  return success();
}

/// Returns whether a gradient could flow only through integers, which have no derivative.
/// Integers beside floats are selectors (an index, a condition): they need no derivative.
static bool flowsThroughIntegers(Operation *op, ArrayRef<bool> isActive) {
  return llvm::is_contained(isActive, true) && llvm::none_of(op->getOperands(), isFloat);
}

LogicalResult ReverseMode::visit(Operation *op) {
  SmallVector<Value> resultGradients;
  SmallVector<bool> needed, activeOperands;
  for (Value result : op->getResults())
    resultGradients.push_back(gradients.lookup(result));
  for (Value operand : op->getOperands()) {
    activeOperands.push_back(active.contains(operand));
    needed.push_back(activeOperands.back() && isFloat(operand));
  }
  if (llvm::none_of(resultGradients, [](Value gradient) { return gradient; }))
    return success();
  if (flowsThroughIntegers(op, activeOperands))
    return failure();
  if (!llvm::is_contained(needed, true))
    return success();

  SmallVector<Value> operandGradients;
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op)) {
    operandGradients = differentiable.buildVJP(builder, resultGradients, needed);
  } else {
    auto through = differentiateDecomposition(op, builder, resultGradients, needed);
    if (failed(through))
      return failure();
    operandGradients = std::move(*through);
  }
  for (auto [operand, gradient, need] : llvm::zip_equal(op->getOperands(), operandGradients, needed))
    if (need && gradient) {
      if (!gradients.contains(operand))
        contributors[operand] = op;
      seed(operand, gradient);
    }
  return success();
}

/// Whether a decomposition has a gradient is known only after building it. A failure
/// leaves its ops behind, and the caller then reports an error.
FailureOr<SmallVector<Value>> braid::tg::differentiateDecomposition(Operation *op, OpBuilder &builder,
                                                                    ArrayRef<Value> resultGradients,
                                                                    ArrayRef<bool> needed) {
  auto composite = dyn_cast<DecomposableOpInterface>(op);
  if (!composite)
    return failure();
  // Collect the ops of the decomposition: those between the old neighbors of the insertion point.
  Block *block = builder.getInsertionBlock();
  Block::iterator end = builder.getInsertionPoint();
  bool isFirst = end == block->begin();
  Operation *before = isFirst ? nullptr : &*std::prev(end);
  SmallVector<Value> values = composite.decompose(builder);
  Block::iterator begin = before ? std::next(before->getIterator()) : block->begin();
  SmallVector<Operation *> parts;
  for (Operation &part : llvm::make_range(begin, builder.getInsertionPoint()))
    parts.push_back(&part);

  ReverseMode reverse(builder);
  for (auto [operand, need] : llvm::zip_equal(op->getOperands(), needed))
    if (need)
      reverse.requestGradient(operand);
  reverse.markActive(parts);
  for (auto [value, gradient] : llvm::zip_equal(values, resultGradients))
    if (gradient)
      reverse.seed(value, gradient);
  if (failed(reverse.run(parts)))
    return failure();
  SmallVector<Value> operandGradients(op->getNumOperands());
  // An operand that occurs twice gets its whole gradient once.
  llvm::DenseSet<Value> answered;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (needed[index] && answered.insert(operand).second)
      operandGradients[index] = reverse.gradientOf(operand);
  return operandGradients;
}
