//===- CollectiveShapes.cpp - constraints of collectives without a root ---===//

#include "dialects/Comm/CollectiveChecks.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

LogicalResult AllReduceOp::verifyGroup(const Mesh &) {
  // all_reduce_c1, all_reduce_c2
  return success(succeeded(verifySameTypes(*this)) && succeeded(verifyReducible(*this)));
}

LogicalResult AllGatherOp::verifyGroup(const Mesh &mesh) {
  SmallVector<RankedTensorType> blocks = sentTypes(*this), wholes = receivedTypes(*this);
  // all_gather_c1
  if (failed(verifyDims(*this, getDims(), "dims", blocks, "operand", /*mayBeFlat=*/true)))
    return failure();
  // all_gather_c2, all_gather_c3
  return verifyBlocks(*this, getDims(), blocks, "operand", wholes, "result", mesh.sizeOf(getAxes()));
}

LogicalResult ReduceScatterOp::verifyGroup(const Mesh &mesh) {
  SmallVector<RankedTensorType> wholes = sentTypes(*this), blocks = receivedTypes(*this);
  // reduce_scatter_c1
  if (failed(verifyDims(*this, getDims(), "dims", wholes, "operand", /*mayBeFlat=*/true)))
    return failure();
  // reduce_scatter_c2, reduce_scatter_c3
  if (failed(verifyBlocks(*this, getDims(), blocks, "result", wholes, "operand", mesh.sizeOf(getAxes()))))
    return failure();
  return verifyReducible(*this);
}

LogicalResult AllToAllOp::verifyGroup(const Mesh &mesh) {
  SmallVector<RankedTensorType> sent = sentTypes(*this), received = receivedTypes(*this);
  int64_t ranks = mesh.sizeOf(getAxes());
  // all_to_all_c1
  if (failed(verifyDims(*this, getSplit(), "split", sent, "operand", /*mayBeFlat=*/false)) ||
      failed(verifyDims(*this, getConcat(), "concat", sent, "operand", /*mayBeFlat=*/false)))
    return failure();
  if (received.size() != sent.size())
    return emitOpError() << "has " << received.size() << " results for " << sent.size()
                         << " operands; each tensor has one";
  for (auto [i, split, concat, in, out] : llvm::enumerate(getSplit(), getConcat(), sent, received)) {
    // all_to_all_c3
    if (in.getElementType() != out.getElementType())
      return emitOpError() << "result #" << i << " has elements " << out.getElementType() << ", but operand #" << i
                           << " has " << in.getElementType();
    // all_to_all_c2
    if (in.getDimSize(split) % ranks != 0)
      return emitOpError() << "dim " << split << " of operand #" << i << " has size " << in.getDimSize(split)
                           << ", which is not " << ranks << " equal blocks; pad it with tg.pad";
    if (RankedTensorType expected = wholeType(blockType(in, split, ranks), concat, ranks); out != expected)
      return emitOpError() << "result #" << i << " is " << out << ", but " << ranks << " blocks of operand #" << i
                           << " along dim " << split << ", side by side along dim " << concat << ", are " << expected;
  }
  return success();
}

LogicalResult PermuteOp::verifyGroup(const Mesh &mesh) {
  ArrayRef<int64_t> pairs = getPairs();
  if (pairs.size() % 2 != 0)
    return emitOpError() << "'pairs' has " << pairs.size() << " numbers; a pair is a source and a target";
  llvm::DenseSet<int64_t> seen[2];
  for (auto [i, rank] : llvm::enumerate(pairs)) {
    StringRef what = i % 2 == 0 ? "source" : "target";
    // permute_c1
    if (failed(verifyMember(*this, mesh, what, rank)))
      return failure();
    // permute_c2
    if (!seen[i % 2].insert(rank).second)
      return emitOpError() << "rank " << rank << " is the " << what << " of two pairs; it can be that of one";
  }
  // permute_c3
  return verifySameTypes(*this);
}

LogicalResult BarrierOp::verifyGroup(const Mesh &) {
  // barrier_c1
  if (!getIns().empty() || !getOuts().empty() || !getResults().empty())
    return emitOpError() << "sends or receives " << getIns().size() + getOuts().size() + getResults().size()
                         << " tensors; a barrier has none";
  return success();
}
