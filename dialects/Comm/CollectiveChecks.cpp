//===- CollectiveChecks.cpp - what constraints have in common -------------===//

#include "dialects/Comm/CollectiveChecks.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static LogicalResult verifySameNumber(CollectiveOpInterface op, size_t received, size_t sent) {
  if (received == sent)
    return success();
  return op->emitOpError() << "has " << received << " results for " << sent << " operands; each tensor has one";
}

LogicalResult comm::verifySameTypes(CollectiveOpInterface op) {
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  if (failed(verifySameNumber(op, received.size(), sent.size())))
    return failure();
  for (auto [i, in, out] : llvm::enumerate(sent, received))
    if (in != out)
      return op->emitOpError() << "result #" << i << " is " << out << ", but operand #" << i << " is " << in
                               << "; they must be the same";
  return success();
}

LogicalResult comm::verifyReducible(CollectiveOpInterface op) {
  Reduction kind = *op.getReductionKind();
  for (auto [i, type] : llvm::enumerate(sentTypes(op))) {
    Type element = type.getElementType();
    if (kind == Reduction::Mean && !isa<FloatType>(element))
      return op->emitOpError() << "operand #" << i << " has elements " << element
                               << ", which have no mean; convert them to floats, or take the sum";
    if (element.isInteger(1) && kind != Reduction::Max && kind != Reduction::Min)
      return op->emitOpError() << "operand #" << i << " has elements i1, which have no " << stringifyReduction(kind)
                               << "; take max (or) or min (and)";
  }
  return success();
}

LogicalResult comm::verifyDims(CollectiveOpInterface op, ArrayRef<int64_t> dims, StringRef name, TensorTypes types,
                               StringRef what, bool mayBeFlat) {
  if (dims.size() != types.size())
    return op->emitOpError() << "'" << name << "' has " << dims.size() << " entries for " << types.size()
                             << " tensors; each needs one";
  for (auto [i, dim, type] : llvm::enumerate(dims, types))
    if (!(mayBeFlat && dim == kFlat) && (dim < 0 || dim >= type.getRank()))
      return op->emitOpError() << "'" << name << "' names dim " << dim << " of " << what << " #" << i << ", but "
                               << type << " has " << type.getRank() << " dims";
  return success();
}

LogicalResult comm::verifyBlocks(CollectiveOpInterface op, ArrayRef<int64_t> dims, TensorTypes blocks,
                                 StringRef blockName, TensorTypes wholes, StringRef wholeName, int64_t ranks) {
  if (failed(verifySameNumber(op, receivedTypes(op).size(), op.getSent().size())))
    return failure();
  for (auto [i, dim, block, whole] : llvm::enumerate(dims, blocks, wholes)) {
    // all_gather_c3
    if (block.getElementType() != whole.getElementType())
      return op->emitOpError() << wholeName << " #" << i << " has elements " << whole.getElementType() << ", but "
                               << blockName << " #" << i << " has " << block.getElementType();
    // all_gather_c2
    if (dim == kFlat) {
      if (RankedTensorType range = blockType(whole, kFlat, ranks); range != block)
        return op->emitOpError() << "the flat range of " << whole << " on each of " << ranks << " ranks is " << range
                                 << ", but " << blockName << " #" << i << " is " << block;
      continue;
    }
    if (dim < whole.getRank() && whole.getDimSize(dim) % ranks != 0)
      return op->emitOpError() << "dim " << dim << " of " << wholeName << " #" << i << " has size "
                               << whole.getDimSize(dim) << ", which does not divide into " << ranks
                               << " equal blocks; pad it with tg.pad, or split it flat";
    if (dim >= block.getRank() || wholeType(block, dim, ranks) != whole)
      return op->emitOpError() << wholeName << " #" << i << " is " << whole << ", which is not " << ranks
                               << " blocks of " << blockName << " #" << i << ", " << block << ", along dim " << dim;
  }
  return success();
}

LogicalResult comm::verifyFlatBlocks(CollectiveOpInterface op, ArrayRef<int64_t> dims, TensorTypes blocks,
                                     StringRef blockName) {
  for (auto [i, dim, block] : llvm::enumerate(dims, blocks))
    if (dim == kFlat && block.getRank() != 1)
      return op->emitOpError() << blockName << " #" << i << " is " << block << ", but a flat range has one dim";
  return success();
}

LogicalResult comm::verifyMember(CollectiveOpInterface op, const Mesh &mesh, StringRef what, int64_t number) {
  int64_t ranks = mesh.sizeOf(op.getAxes());
  if (number >= 0 && number < ranks)
    return success();
  return op->emitOpError() << "the " << what << " " << number << " is not one of the " << ranks << " ranks of "
                           << op.getAxes().str() << "; they are numbered from 0";
}
