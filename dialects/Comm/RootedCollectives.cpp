//===- RootedCollectives.cpp - constraints that ask who runs a function ---===//
//
// Of the ranks that run a function all, some or none are the root of their group
// (or the peer of a send).  What an op has in that function follows: operands
// where the root runs it too, results where nobody but roots runs it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/CollectiveChecks.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// How many of the ranks that run the op have this number in their group.
static Members membersHere(CollectiveOpInterface op, const Mesh &mesh, int64_t number) {
  return mesh.membersWithNumber(enclosingProgram(op), op.getAxes(), number);
}

/// broadcast_c3, scatter_c3: operands are there if and only if the root runs the
/// function.
static LogicalResult verifyRootSends(CollectiveOpInterface op, const Mesh &mesh) {
  bool rootIsHere = membersHere(op, mesh, *op.getRootRank()) != Members::None;
  if (rootIsHere == !op.getSent().empty())
    return success();
  if (rootIsHere)
    return op->emitOpError() << "has no operands, but the root " << *op.getRootRank()
                             << " runs this function; give what it sends";
  return op->emitOpError() << "has operands, but the root " << *op.getRootRank()
                           << " does not run this function; only the root sends";
}

/// reduce_c3, gather_c3: results are there if and only if roots alone run the
/// function.
static LogicalResult verifyRootReceives(CollectiveOpInterface op, const Mesh &mesh) {
  Members roots = membersHere(op, mesh, *op.getRootRank());
  bool hasResults = !receivedTypes(op).empty();
  if (roots == Members::Some)
    return op->emitOpError() << "is in a function that the root " << *op.getRootRank() << " and other ranks of "
                             << op.getAxes().str() << " run together, but only the root has a result; give the root a "
                             << "function of its own with comm.program";
  if (hasResults && roots == Members::None)
    return op->emitOpError() << "has results, but the root " << *op.getRootRank()
                             << " does not run this function; only the root has them";
  if (!hasResults && roots == Members::All)
    return op->emitOpError() << "has no results, but the root " << *op.getRootRank() << " runs this function";
  return success();
}

LogicalResult BroadcastOp::verifyGroup(const Mesh &mesh) {
  // broadcast_c1, broadcast_c3
  if (failed(verifyMember(*this, mesh, "root", getRoot())) || failed(verifyRootSends(*this, mesh)))
    return failure();
  // broadcast_c2
  bool keepsOwn = receivedTypes(*this).empty() && membersHere(*this, mesh, getRoot()) == Members::All;
  return getIns().empty() || keepsOwn ? success() : verifySameTypes(*this);
}

LogicalResult ReduceOp::verifyGroup(const Mesh &mesh) {
  // reduce_c1, reduce_c3
  if (failed(verifyMember(*this, mesh, "root", getRoot())) || failed(verifyRootReceives(*this, mesh)))
    return failure();
  // reduce_c2
  if (!receivedTypes(*this).empty() && failed(verifySameTypes(*this)))
    return failure();
  return verifyReducible(*this);
}

LogicalResult GatherOp::verifyGroup(const Mesh &mesh) {
  SmallVector<RankedTensorType> blocks = sentTypes(*this), wholes = receivedTypes(*this);
  // gather_c1, gather_c3
  if (failed(verifyMember(*this, mesh, "root", getRoot())) || failed(verifyRootReceives(*this, mesh)))
    return failure();
  // gather_c2
  if (failed(verifyDims(*this, getDims(), "dims", blocks, "operand", /*mayBeFlat=*/true)))
    return failure();
  if (wholes.empty())
    return verifyFlatBlocks(*this, getDims(), blocks, "operand");
  return verifyBlocks(*this, getDims(), blocks, "operand", wholes, "result", mesh.sizeOf(getAxes()));
}

LogicalResult ScatterOp::verifyGroup(const Mesh &mesh) {
  SmallVector<RankedTensorType> blocks = receivedTypes(*this), wholes = sentTypes(*this);
  // scatter_c1, scatter_c3
  if (failed(verifyMember(*this, mesh, "root", getRoot())) || failed(verifyRootSends(*this, mesh)))
    return failure();
  // scatter_c2
  if (failed(verifyDims(*this, getDims(), "dims", wholes.empty() ? blocks : wholes,
                        wholes.empty() ? "result" : "operand", /*mayBeFlat=*/true)))
    return failure();
  if (wholes.empty())
    return verifyFlatBlocks(*this, getDims(), blocks, "result");
  return verifyBlocks(*this, getDims(), blocks, "result", wholes, "operand", mesh.sizeOf(getAxes()));
}

/// send_c1, recv_c1
static LogicalResult verifyPeer(CollectiveOpInterface op, const Mesh &mesh, int64_t peer) {
  if (failed(verifyMember(op, mesh, "peer", peer)))
    return failure();
  if (membersHere(op, mesh, peer) == Members::None)
    return success();
  return op->emitOpError() << "the peer " << peer << " of " << op.getAxes().str()
                           << " runs this function too; ranks that run one function use comm.permute";
}

LogicalResult SendOp::verifyGroup(const Mesh &mesh) {
  // send_c2
  if (!receivedTypes(*this).empty())
    return emitOpError() << "has " << receivedTypes(*this).size() << " results; a send receives nothing";
  return verifyPeer(*this, mesh, getPeer());
}

LogicalResult RecvOp::verifyGroup(const Mesh &mesh) {
  // recv_c2
  if (!getIns().empty())
    return emitOpError() << "has " << getIns().size() << " operands; a recv sends nothing";
  return verifyPeer(*this, mesh, getPeer());
}
