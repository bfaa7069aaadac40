//===- TGVerify.cpp - checks of ops whose results are not inferred --------===//

#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid::tg;

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "changes the element type from " << input << " to " << result;
  if (static_cast<int64_t>(getDims().size()) != input.getRank())
    return emitOpError() << "has " << getDims().size() << " dims but the operand is " << input;
  int64_t previous = -1;
  for (auto [index, dim] : llvm::enumerate(getDims())) {
    if (dim <= previous || dim >= result.getRank())
      return emitOpError() << "dims must be strictly increasing and below the rank of " << result << ", found " << dim;
    int64_t size = input.getDimSize(index);
    if (size != 1 && size != result.getDimSize(dim))
      return emitOpError() << "dim " << index << " of " << input << " does not fit dim " << dim << " of " << result;
    previous = dim;
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (input.getElementType() != result.getElementType() || input.getNumElements() != result.getNumElements())
    return emitOpError() << "from " << input << " (" << input.getNumElements() << " elements) to " << result << " ("
                         << result.getNumElements() << " elements)";
  return success();
}

LogicalResult ReorderOp::verify() {
  int64_t dim = getDim(), blocks = getOrder().size();
  if (dim < 0 || dim >= getType().getRank())
    return emitOpError() << "dim " << dim << " is out of range for " << getType();
  SmallVector<int64_t> sorted(getOrder());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq(blocks)))
    return emitOpError() << "order must name each of its " << blocks << " blocks once, from 0 to " << blocks - 1;
  if (blocks == 0 || getType().getDimSize(dim) % blocks != 0)
    return emitOpError() << blocks << " blocks do not divide dim " << dim << " of " << getType() << " into equal parts";
  return success();
}

LogicalResult ScatterAddOp::verify() {
  RankedTensorType indices = getIndices().getType(), updates = getUpdates().getType(), result = getType();
  SmallVector<int64_t> expected(indices.getShape());
  if (result.getRank() != 2)
    return emitOpError() << "result must have rank 2 (rows x width), found " << result;
  expected.push_back(result.getDimSize(1));
  if (updates.getShape() != ArrayRef<int64_t>(expected) || updates.getElementType() != result.getElementType())
    return emitOpError() << "updates " << updates << " do not fit indices " << indices << " and result " << result;
  return success();
}

LogicalResult IotaOp::verify() {
  if (getDim() >= static_cast<uint64_t>(getType().getRank()))
    return emitOpError() << "dim " << getDim() << " is out of range for " << getType();
  return success();
}

static LogicalResult verifyKey(Operation *op, RankedTensorType key) {
  if (key.getRank() == 1 && key.getDimSize(0) == 4)
    return success();
  return op->emitOpError() << "key must be tensor<4xi32> (seed low, seed high, step, microbatch), found " << key;
}

/// Fails unless the op makes a block of `whole`, with an offset for each dim.
static LogicalResult verifyBlock(RandomUniformOp op, ArrayRef<int64_t> whole, size_t offsets) {
  RankedTensorType block = op.getType();
  size_t rank = block.getRank();
  if (offsets != rank || whole.size() != rank)
    return op.emitOpError() << "has " << offsets << " offsets into a tensor of " << whole.size()
                            << " dims, but its result is " << block;
  for (auto [dim, size] : llvm::enumerate(whole))
    if (size < block.getDimSize(dim))
      return op.emitOpError() << "dim " << dim << " of " << block << " is larger than the whole tensor's " << size;
  return success();
}

LogicalResult RandomUniformOp::verify() {
  if (getStream() > UINT32_MAX)
    return emitOpError() << "stream " << getStream() << " does not fit 32 bits";
  if (getOffsets().empty() != !getOf())
    return emitOpError() << "needs both offsets and the shape of the larger tensor, or neither";
  if (getOf() && failed(verifyBlock(*this, *getOf(), getOffsets().size())))
    return failure();
  return verifyKey(*this, getKey().getType());
}

template <typename Op> static LogicalResult verifyDropout(Op op) {
  double rate = op.getRate().convertToDouble();
  if (!(rate >= 0.0 && rate < 1.0))
    return op.emitOpError() << "rate must be at least 0 and below 1, found " << rate;
  if (op.getStream() > UINT32_MAX)
    return op.emitOpError() << "stream " << op.getStream() << " does not fit 32 bits";
  return success();
}

LogicalResult DropoutAttentionOp::verify() {
  return failed(verifyDropout(*this)) ? failure() : verifyKey(*this, getRandom().getType());
}

LogicalResult DropoutOp::verify() {
  if (failed(verifyDropout(*this)))
    return failure();
  if (getInput().getType() != getType())
    return emitOpError() << "changes the type from " << getInput().getType() << " to " << getType();
  return verifyKey(*this, getKey().getType());
}

LogicalResult CountOp::verify() {
  if (getType().getRank() != 0)
    return emitOpError() << "result must be a scalar, found " << getType();
  if (double weight = getIgnoredWeight().convertToDouble(); !(weight >= 0 && weight < 1))
    return emitOpError() << "an ignored target has a weight of at least 0 and below 1, found " << weight;
  return success();
}

LogicalResult RopeOp::verify() {
  RankedTensorType type = getType();
  if (type.getRank() != 4 || type.getDimSize(3) % 2)
    return emitOpError() << "operand must be batch x sequence x heads x even size, found " << type;
  if (!(getTheta().convertToDouble() > 0))
    return emitOpError() << "theta must be positive, found " << getTheta().convertToDouble();
  if (getTurned() < 2 || getTurned() > type.getDimSize(3) || getTurned() % 2)
    return emitOpError() << "turns " << getTurned() << " numbers of a head of " << type.getDimSize(3)
                         << ": the number must be even and not larger";
  return success();
}

LogicalResult GlobalNormOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "needs at least one operand";
  if (getType().getRank() != 0)
    return emitOpError() << "result must be a scalar, found " << getType();
  return success();
}
