//===- CollectiveVerifier.cpp - constraints on collectives ----------------===//
//
// Most constraints follow from the row of the kind (runtime/CollectiveKinds.h): who in the
// group sends and receives, and whole tensors or blocks. The root of a group, or the peer
// of a transfer, may be all, some or none of the ranks that run a function. An op has
// operands if the root runs the function too, and results unless only other ranks receive.
// Messages call received tensors results; in memory form they are written to outs.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using TensorTypes = ArrayRef<RankedTensorType>;

//===----------------------------------------------------------------------===//
// On values or in memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyLevel(CollectiveOpInterface op) {
  auto isReference = [](Type type) { return isa<exec::RefType>(type); };
  TypeRange sent = op.getSent().getTypes();
  bool sendsReferences = llvm::any_of(sent, isReference);
  bool writesReferences = !cast<exec::ActionOpInterface>(op.getOperation()).getActionOuts().empty();
  // collective_c1
  if (sendsReferences && !llvm::all_of(sent, isReference))
    return op->emitOpError()
           << "sends both tensors and references; give tensors only (on values) or references only (in memory)";
  if (writesReferences && !sent.empty() && !sendsReferences)
    return op->emitOpError() << "sends tensors but writes into references; tensors are received as results";
  if ((sendsReferences || writesReferences) && op->getNumResults() != 0)
    return op->emitOpError()
           << "has results, but sends references; an op in memory writes outs: give the references as outs";
  // collective_c2
  if (!op.getRow().movesNothing() && sent.empty() && !writesReferences && op->getNumResults() == 0)
    return op->emitOpError() << "sends nothing and receives nothing; use comm.barrier to wait";
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult verifySameNumber(CollectiveOpInterface op, size_t received, size_t sent) {
  if (received == sent)
    return success();
  return op->emitOpError() << "has " << received << " results for " << sent
                           << " operands; each operand needs one result";
}

/// Fails unless result i has the type of operand i.
static LogicalResult verifySameTypes(CollectiveOpInterface op) {
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  if (failed(verifySameNumber(op, received.size(), sent.size())))
    return failure();
  for (auto [i, in, out] : llvm::enumerate(sent, received))
    if (in != out)
      return op->emitOpError() << "result #" << i << " is " << out << ", but operand #" << i << " is " << in
                               << "; they must be the same";
  return success();
}

/// Fails unless the kind can reduce the element types of the operands.
static LogicalResult verifyReducible(CollectiveOpInterface op) {
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

/// Fails unless `dims` has an entry for each tensor: one of its dims, or kFlat if
/// `mayBeFlat`. Messages call the dims `name` and the tensors `what`.
static LogicalResult verifyDims(CollectiveOpInterface op, ArrayRef<int64_t> dims, StringRef name, TensorTypes types,
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

/// Fails unless block i is one of `ranks` equal blocks of whole i along dims[i], with the same
/// element type. The caller has verified the dims against either the blocks or the wholes.
static LogicalResult verifyBlocks(CollectiveOpInterface op, ArrayRef<int64_t> dims, TensorTypes blocks,
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

/// Verifies blocks whose wholes are on other ranks: flat blocks have one dim.
static LogicalResult verifyFlatBlocks(CollectiveOpInterface op, ArrayRef<int64_t> dims, TensorTypes blocks,
                                      StringRef blockName) {
  for (auto [i, dim, block] : llvm::enumerate(dims, blocks))
    if (dim == kFlat && block.getRank() != 1)
      return op->emitOpError() << blockName << " #" << i << " is " << block << ", but a flat range has one dim";
  return success();
}

/// Fails unless `number`, which messages call `what`, is a rank of the group.
static LogicalResult verifyMember(CollectiveOpInterface op, const Mesh &mesh, StringRef what, int64_t number) {
  int64_t ranks = mesh.sizeOf(op.getAxes());
  if (number >= 0 && number < ranks)
    return success();
  return op->emitOpError() << "the " << what << " " << number << " is not one of the " << ranks << " ranks of "
                           << op.getAxes().str() << "; they are numbered from 0";
}

//===----------------------------------------------------------------------===//
// Senders and receivers
//===----------------------------------------------------------------------===//

/// Returns how many of the ranks that run the op have this number in their group.
static Members membersHere(CollectiveOpInterface op, const Mesh &mesh, int64_t number) {
  return mesh.membersWithNumber(enclosingProgram(op), op.getAxes(), number);
}

/// Fails unless the op has operands if and only if the root runs the function.
static LogicalResult verifyRootSends(CollectiveOpInterface op, const Mesh &mesh) {
  bool rootIsHere = membersHere(op, mesh, *op.getRootRank()) != Members::None;
  if (rootIsHere == !op.getSent().empty())
    return success();
  if (rootIsHere)
    return op->emitOpError() << "has no operands, but the root " << *op.getRootRank()
                             << " runs this function; give the tensors that it sends";
  return op->emitOpError() << "has operands, but only the root sends, and the root " << *op.getRootRank()
                           << " does not run this function; drop the operands";
}

/// Fails unless the op has results if and only if only roots run the function.
static LogicalResult verifyRootReceives(CollectiveOpInterface op, const Mesh &mesh) {
  Members roots = membersHere(op, mesh, *op.getRootRank());
  bool hasResults = !receivedTypes(op).empty();
  if (roots == Members::Some)
    return op->emitOpError() << "is in a function that the root " << *op.getRootRank() << " and other ranks of "
                             << op.getAxes().str() << " run together, but only the root has a result; give the root a "
                             << "function of its own with comm.program";
  if (hasResults && roots == Members::None)
    return op->emitOpError() << "has results, but the root " << *op.getRootRank()
                             << " does not run this function; drop the results";
  if (!hasResults && roots == Members::All)
    return op->emitOpError() << "has no results, but the root " << *op.getRootRank()
                             << " runs this function; give a result for each tensor";
  return success();
}

static LogicalResult verifyPeer(CollectiveOpInterface op, const Mesh &mesh) {
  int64_t peer = *op.getPeerRank();
  if (failed(verifyMember(op, mesh, "peer", peer)))
    return failure();
  if (membersHere(op, mesh, peer) == Members::None)
    return success();
  return op->emitOpError() << "the peer " << peer << " of " << op.getAxes().str()
                           << " runs this function too; ranks that run one function use comm.permute";
}

static LogicalResult verifyPairs(CollectiveOpInterface op, const Mesh &mesh) {
  ArrayRef<int64_t> pairs = op.getPairs();
  if (pairs.size() % 2 != 0)
    return op->emitOpError() << "'pairs' has " << pairs.size() << " numbers; each pair needs a source and a target";
  llvm::DenseSet<int64_t> seen[2];
  for (auto [i, rank] : llvm::enumerate(pairs)) {
    StringRef what = i % 2 == 0 ? "source" : "target";
    // permute_c1
    if (failed(verifyMember(op, mesh, what, rank)))
      return failure();
    // permute_c2
    if (!seen[i % 2].insert(rank).second)
      return op->emitOpError() << "rank " << rank << " is the " << what << " of two pairs; expected at most one";
  }
  return success();
}

static LogicalResult verifyMembers(CollectiveOpInterface op, const Mesh &mesh) {
  const CollectiveKind &row = op.getRow();
  // broadcast_c1, reduce_c1, gather_c1, scatter_c1
  if (row.hasRoot() && failed(verifyMember(op, mesh, "root", *op.getRootRank())))
    return failure();
  // broadcast_c3, scatter_c3
  if (row.sent.participants == Participants::Root && failed(verifyRootSends(op, mesh)))
    return failure();
  // reduce_c3, gather_c3
  if (row.received.participants == Participants::Root && failed(verifyRootReceives(op, mesh)))
    return failure();
  size_t sent = op.getSent().size(), received = receivedTypes(op).size();
  // barrier_c1
  if (row.movesNothing() && sent + received > 0)
    return op->emitOpError() << "sends or receives " << sent + received << " tensors; a " << row.name.data()
                             << " has none";
  // send_c2
  if (row.received.participants == Participants::Nobody && received > 0)
    return op->emitOpError() << "has " << received << " results; a " << row.name.data() << " receives nothing";
  // recv_c2
  if (row.sent.participants == Participants::Nobody && sent > 0)
    return op->emitOpError() << "has " << sent << " operands; a " << row.name.data() << " sends nothing";
  // send_c1, recv_c1
  if (row.hasPeer())
    return verifyPeer(op, mesh);
  return row.naming == Naming::Pairs ? verifyPairs(op, mesh) : success();
}

//===----------------------------------------------------------------------===//
// Forms of what is sent and received
//===----------------------------------------------------------------------===//

/// Verifies whole tensors on both sides, if the ranks that run the function have both.
static LogicalResult verifyWholes(CollectiveOpInterface op, const Mesh &mesh) {
  const CollectiveKind &row = op.getRow();
  if (row.sent.participants == Participants::Nobody || row.received.participants == Participants::Nobody)
    return success();
  if (row.sent.participants == Participants::Root && op.getSent().empty())
    return success();
  // A root may receive nothing and keep what it holds.
  bool mayKeep = row.hasRoot() && (row.received.participants == Participants::Root ||
                                   membersHere(op, mesh, *op.getRootRank()) == Members::All);
  return mayKeep && receivedTypes(op).empty() ? success() : verifySameTypes(op);
}

/// Verifies a block on one side and, if it is here, the whole tensor on the other.
static LogicalResult verifyBlockAndWhole(CollectiveOpInterface op, int64_t ranks) {
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  bool sendsBlock = op.getRow().sent.form == Form::Block;
  StringRef blockName = sendsBlock ? "operand" : "result", wholeName = sendsBlock ? "result" : "operand";
  TensorTypes blocks = sendsBlock ? sent : received, wholes = sendsBlock ? received : sent;
  ArrayRef<int64_t> dims = sendsBlock ? op.getReceivedDims() : op.getSentDims();
  bool isOfSent = !sent.empty();
  if (failed(verifyDims(op, dims, "dims", isOfSent ? sent : received, isOfSent ? "operand" : "result",
                        /*mayBeFlat=*/true)))
    return failure();
  if (wholes.empty() && op.getRow().hasRoot())
    return verifyFlatBlocks(op, dims, blocks, blockName);
  return verifyBlocks(op, dims, blocks, blockName, wholes, wholeName, ranks);
}

/// Verifies blocks on both sides, which the ranks exchange.
static LogicalResult verifyExchange(CollectiveOpInterface op, int64_t ranks) {
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  // all_to_all_c1
  if (failed(verifyDims(op, op.getSentDims(), "split", sent, "operand", /*mayBeFlat=*/false)) ||
      failed(verifyDims(op, op.getReceivedDims(), "concat", sent, "operand", /*mayBeFlat=*/false)))
    return failure();
  if (failed(verifySameNumber(op, received.size(), sent.size())))
    return failure();
  for (auto [i, split, concat, in, out] : llvm::enumerate(op.getSentDims(), op.getReceivedDims(), sent, received)) {
    // all_to_all_c3
    if (in.getElementType() != out.getElementType())
      return op->emitOpError() << "result #" << i << " has elements " << out.getElementType() << ", but operand #" << i
                               << " has " << in.getElementType();
    // all_to_all_c2
    if (in.getDimSize(split) % ranks != 0)
      return op->emitOpError() << "dim " << split << " of operand #" << i << " has size " << in.getDimSize(split)
                               << ", which is not " << ranks << " equal blocks; pad it with tg.pad";
    if (RankedTensorType expected = wholeType(blockType(in, split, ranks), concat, ranks); out != expected)
      return op->emitOpError() << "result #" << i << " is " << out << ", but " << ranks << " blocks of operand #" << i
                               << " along dim " << split << ", side by side along dim " << concat << ", are "
                               << expected;
  }
  return success();
}

static LogicalResult verifyForms(CollectiveOpInterface op, const Mesh &mesh) {
  const CollectiveKind &row = op.getRow();
  // all_reduce_c1, broadcast_c2, reduce_c2, permute_c3
  if (row.sent.form == Form::Whole && row.received.form == Form::Whole)
    return verifyWholes(op, mesh);
  if (row.sent.form == Form::Blocks && row.received.form == Form::Blocks)
    return verifyExchange(op, mesh.sizeOf(op.getAxes()));
  // all_gather_c1 to c3, reduce_scatter_c1 to c3, gather_c2, scatter_c2
  return verifyBlockAndWhole(op, mesh.sizeOf(op.getAxes()));
}

LogicalResult comm::detail::verifyCollective(Operation *operation, SymbolTableCollection &tables) {
  auto op = cast<CollectiveOpInterface>(operation);
  FailureOr<Mesh> mesh = requireGroup(op, op.getMeshAttr(), op.getAxes(), tables);
  if (failed(mesh) || failed(verifyLevel(op)) || failed(verifyMembers(op, *mesh)) || failed(verifyForms(op, *mesh)))
    return failure();
  // all_reduce_c2, reduce_scatter_c3, reduce_c2
  return op.getRow().reduces ? verifyReducible(op) : success();
}
