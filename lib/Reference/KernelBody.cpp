//===- KernelBody.cpp - execution of the generics of a kernel -------------===//
//
// A generic runs one index after another, with its loops in row-major order.  The
// combining op of a reduction is not rounded until the sum is complete.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/KernelBody.h"
#include "dialects/Exec/Exec.h"
#include "lib/Reference/Elementwise.h"
#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Philox.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// The scalar body of a generic, as a list of steps over slots
//===----------------------------------------------------------------------===//

namespace {
class ScalarBody {
public:
  using Captured = function_ref<const Tensor *(Value)>;

  static FailureOr<ScalarBody> of(linalg::GenericOp generic, Captured captured, Arithmetic arithmetic);

  /// Runs at one index; `slots` begins with the block's arguments.
  void run(ArrayRef<int64_t> index);

  std::vector<Element> slots;
  SmallVector<unsigned> yielded;

private:
  struct Step {
    ElementFunction function;
    SmallVector<unsigned, 3> operands;
    unsigned result;
    SmallVector<Rounding, 2> rounding; // null if results are not rounded
  };

  LogicalResult add(Operation &op, Captured captured);
  LogicalResult addRandom(exec::RandomUniformOp op, Captured captured);
  LogicalResult addExtract(tensor::ExtractOp op, Captured captured);
  FailureOr<unsigned> slotOf(Operation *user, Value value, Captured captured);
  /// Appends the slots of values that an op uses.
  LogicalResult addSlots(Operation *user, ValueRange values, Captured captured, SmallVectorImpl<unsigned> &found);
  unsigned newSlot(Value value, Element initial = ofInt(0));

  DenseMap<Value, unsigned> slotOfValue;
  std::vector<Step> steps;
  std::vector<std::pair<unsigned, unsigned>> indices; // slot, loop
  Operation *combiner = nullptr;
  Arithmetic arithmetic = Arithmetic::Native;
};
} // namespace

unsigned ScalarBody::newSlot(Value value, Element initial) {
  slotOfValue[value] = slots.size();
  slots.push_back(initial);
  return slots.size() - 1;
}

/// Returns the slot of a value of the body, or of a scalar that it reads from outside.
FailureOr<unsigned> ScalarBody::slotOf(Operation *user, Value value, Captured captured) {
  auto found = slotOfValue.find(value);
  if (found != slotOfValue.end())
    return found->second;
  const Tensor *scalar = captured(value);
  if (!scalar || scalar->size() != 1)
    return user->emitError("reads a value from outside the generic that is not a scalar");
  return newSlot(value, (*scalar)[0]);
}

LogicalResult ScalarBody::addSlots(Operation *user, ValueRange values, Captured captured,
                                   SmallVectorImpl<unsigned> &found) {
  for (Value value : values) {
    FailureOr<unsigned> slot = slotOf(user, value, captured);
    if (failed(slot))
      return failure();
    found.push_back(*slot);
  }
  return success();
}

/// Adds a random number, which depends on the loops and on all words of the key.
LogicalResult ScalarBody::addRandom(exec::RandomUniformOp op, Captured captured) {
  const Tensor *key = captured(op.getKey());
  if (!key)
    return op.emitError("the interpreter finds no key");
  Step step;
  for (OperandRange places : {op.getIndices(), op.getOffsets()})
    if (failed(addSlots(op, places, captured, step.operands)))
      return failure();
  PhiloxKey seed = {static_cast<uint32_t>(key->n(0)), static_cast<uint32_t>(key->n(1))};
  uint32_t stepWord = static_cast<uint32_t>(key->n(2)), stream = static_cast<uint32_t>(op.getStream());
  uint64_t first = static_cast<uint32_t>(key->n(3)) * static_cast<uint64_t>(op.getCount());
  Index strides(op.getStrides());
  llvm::append_range(strides, op.getSteps());
  step.function = [=](const Element *in, Element *out) {
    uint64_t element = first;
    for (size_t d = 0; d < strides.size(); ++d)
      element += in[d].i * strides[d];
    out->f = uniformOf(philoxWord(element, stepWord, stream, seed));
  };
  step.result = newSlot(op.getResult());
  step.rounding.push_back(arithmetic == Arithmetic::Native ? roundingOf(op.getResult().getType()) : nullptr);
  steps.push_back(std::move(step));
  return success();
}

/// Adds a read of one element of a whole tensor by its indices. A read outside of it gives NaN, or 0x7F7F7F7F.
LogicalResult ScalarBody::addExtract(tensor::ExtractOp op, Captured captured) {
  const Tensor *tensor = captured(op.getTensor());
  if (!tensor)
    return op.emitError("the interpreter finds no tensor");
  Step step;
  if (failed(addSlots(op, op.getIndices(), captured, step.operands)))
    return failure();
  step.function = [tensor](const Element *in, Element *out) {
    int64_t place = 0;
    bool isInside = true;
    for (auto [d, size] : llvm::enumerate(tensor->shape)) {
      isInside &= in[d].i >= 0 && in[d].i < size;
      place = place * size + in[d].i;
    }
    *out = isInside ? (*tensor)[place] : tensor->hasFloats() ? ofFloat(NAN) : ofInt(0x7F7F7F7F);
  };
  step.result = newSlot(op.getResult());
  step.rounding.push_back(nullptr);
  steps.push_back(std::move(step));
  return success();
}

LogicalResult ScalarBody::add(Operation &op, Captured captured) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    FailureOr<Tensor> value = evaluateConstant(constant);
    if (failed(value))
      return failure();
    newSlot(constant, (*value)[0]);
    return success();
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    indices.push_back({newSlot(index), static_cast<unsigned>(index.getDim())});
    return success();
  }
  if (auto random = dyn_cast<exec::RandomUniformOp>(op))
    return addRandom(random, captured);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return addExtract(extract, captured);
  Step step;
  step.function = elementFunction(&op);
  if (!step.function)
    return op.emitError() << "the interpreter does not know '" << op.getName() << "' in the body of a generic";
  if (failed(addSlots(&op, op.getOperands(), captured, step.operands)))
    return failure();
  step.result = slots.size();
  for (Value result : op.getResults()) {
    newSlot(result);
    bool rounds = &op != combiner && arithmetic == Arithmetic::Native;
    step.rounding.push_back(rounds ? roundingOf(result.getType()) : nullptr);
  }
  steps.push_back(std::move(step));
  return success();
}

FailureOr<ScalarBody> ScalarBody::of(linalg::GenericOp generic, Captured captured, Arithmetic arithmetic) {
  ScalarBody body;
  body.arithmetic = arithmetic;
  Block &block = generic.getRegion().front();
  Operation *yield = block.getTerminator();
  if (generic.getNumReductionLoops() > 0)
    body.combiner = yield->getOperand(0).getDefiningOp();
  for (BlockArgument argument : block.getArguments())
    body.newSlot(argument);
  for (Operation &op : block.without_terminator())
    if (failed(body.add(op, captured)))
      return failure();
  if (failed(body.addSlots(yield, yield->getOperands(), captured, body.yielded)))
    return failure();
  return body;
}

void ScalarBody::run(ArrayRef<int64_t> index) {
  for (auto [slot, loop] : indices)
    slots[slot].i = index[loop];
  Element in[8], out[2];
  for (const Step &step : steps) {
    for (size_t k = 0; k < step.operands.size(); ++k)
      in[k] = slots[step.operands[k]];
    step.function(in, out);
    for (size_t r = 0; r < step.rounding.size(); ++r) {
      if (step.rounding[r])
        out[r].f = step.rounding[r](out[r].f);
      slots[step.result + r] = out[r];
    }
  }
}

//===----------------------------------------------------------------------===//
// Generics
//===----------------------------------------------------------------------===//

/// Returns the size of every loop, from the operands that it indexes.
static FailureOr<Index> loopBounds(linalg::GenericOp generic, ArrayRef<const Tensor *> operands) {
  Index bounds(generic.getNumLoops(), -1);
  for (auto [map, operand] : llvm::zip(generic.getIndexingMapsArray(), operands)) {
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return generic.emitError() << "the interpreter does not know the indexing map " << AffineMapAttr::get(map);
    for (auto [expr, size] : llvm::zip(map.getResults(), operand->shape))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t &bound = bounds[dim.getPosition()];
        if (bound >= 0 && bound != size)
          return generic.emitError() << "loop " << dim.getPosition() << " has " << bound << " and " << size
                                     << " iterations by two of its operands";
        bound = size;
      }
  }
  if (llvm::is_contained(bounds, -1))
    return generic.emitError("has a loop that indexes no operand");
  return bounds;
}

/// Returns how far an operand moves per step of each loop.
static Index loopStrides(AffineMap map, const Tensor &operand) {
  Index own = rowMajorStrides(operand.shape), strides(map.getNumDims(), 0);
  for (auto [expr, stride] : llvm::zip(map.getResults(), own))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      strides[dim.getPosition()] += stride;
  return strides;
}

static Results runGeneric(linalg::GenericOp generic, ArrayRef<const Tensor *> operands, ScalarBody::Captured captured,
                          Arithmetic arithmetic) {
  FailureOr<Index> bounds = loopBounds(generic, operands);
  FailureOr<ScalarBody> body = ScalarBody::of(generic, captured, arithmetic);
  if (failed(bounds) || failed(body))
    return failure();
  unsigned numInputs = generic.getNumDpsInputs();
  SmallVector<Tensor> outs;
  for (const Tensor *init : operands.drop_front(numInputs))
    outs.push_back(*init);
  SmallVector<Index> strides;
  for (auto [map, operand] : llvm::zip(generic.getIndexingMapsArray(), operands))
    strides.push_back(loopStrides(map, *operand));

  SmallVector<int64_t> places(operands.size());
  forEachIndex(*bounds, [&](ArrayRef<int64_t> index) {
    for (unsigned k = 0; k < operands.size(); ++k) {
      places[k] = 0;
      for (size_t loop = 0; loop < index.size(); ++loop)
        places[k] += index[loop] * strides[k][loop];
      body->slots[k] = k < numInputs ? (*operands[k])[places[k]] : outs[k - numInputs][places[k]];
    }
    body->run(index);
    for (unsigned r = 0; r < outs.size(); ++r)
      outs[r][places[numInputs + r]] = body->slots[body->yielded[r]];
  });
  if (arithmetic == Arithmetic::Native)
    for (Tensor &out : outs)
      out.round();
  return outs;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Returns a tensor for memory that was never written: NaN, or a huge number for ints.
static Tensor emptyTensor(RankedTensorType type, int64_t flatLength) {
  Index shape(type.getShape());
  if (flatLength && !shape.empty())
    shape[0] = flatLength;
  Tensor result(shape, type.getElementType());
  for (Element &e : result.elements)
    e = result.hasFloats() ? ofFloat(NAN) : ofInt(wrapTo(result.elementType, 0x7F7F7F7F7F7F7F7F));
  return result;
}

namespace {
/// Values of a body, and a function that adds the results of one of its ops.
struct BodyRun {
  const Tensor *find(Value value) const {
    auto found = values.find(value);
    return found == values.end() ? nullptr : &found->second;
  }
  LogicalResult run(Operation &op);

  DenseMap<Value, Tensor> values;
  int64_t flatLength;
  Arithmetic arithmetic;
};
} // namespace

LogicalResult BodyRun::run(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    FailureOr<Tensor> value = evaluateConstant(constant);
    if (failed(value))
      return failure();
    values[constant] = std::move(*value);
    return success();
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    values[empty] = emptyTensor(empty.getType(), flatLength);
    return success();
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Tensor filled = *find(fill.getOutputs()[0]);
    std::fill(filled.elements.begin(), filled.elements.end(), (*find(fill.getInputs()[0]))[0]);
    values[fill.getResult(0)] = std::move(filled);
    return success();
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return op.emitError() << "the interpreter does not know '" << op.getName() << "' in a kernel";
  SmallVector<const Tensor *> operands;
  for (Value operand : generic->getOperands())
    operands.push_back(find(operand));
  auto captured = [&](Value value) { return find(value); };
  Results made = runGeneric(generic, operands, captured, arithmetic);
  if (failed(made))
    return failure();
  for (auto [value, tensor] : llvm::zip(generic.getResults(), *made))
    values[value] = std::move(tensor);
  return success();
}

Results braid::reference::runKernelBody(Block &body, ArrayRef<const Tensor *> arguments, int64_t flatLength,
                                        Arithmetic arithmetic) {
  BodyRun run{DenseMap<Value, Tensor>(), flatLength, arithmetic};
  for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), arguments))
    run.values[argument] = *tensor;
  for (Operation &op : body.without_terminator())
    if (failed(run.run(op)))
      return failure();
  SmallVector<Tensor> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(*run.find(value));
  return yielded;
}
