//===- Collectives.cpp - what all collectives answer and require ----------===//
//
// Effects, what goes in and out on values or in memory, in which form, and the
// bytes that are sent.  The constraints of each collective are in
// CollectiveShapes.cpp and RootedCollectives.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// On values a collective is pure where all ranks run the function: removing or
/// merging it does the same on each.  Where only some run it, where nothing but
/// the order is the result, or where a ticket has the result, it has an effect.
void comm::detail::collectEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  ProgramAttr program = enclosingProgram(op);
  bool onlySome = program && program.getAxis();
  if (onlySome || op->getNumResults() == 0 || isa<StartOp>(op->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// On values and in memory
//===----------------------------------------------------------------------===//

static bool isReference(Type type) { return isa<exec::RefType>(type); }

static SmallVector<RankedTensorType> tensorTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) {
    auto reference = dyn_cast<exec::RefType>(type);
    return reference ? reference.getTensorType() : cast<RankedTensorType>(type);
  });
}

static OperandRange outsOf(CollectiveOpInterface op) {
  return cast<exec::ActionOpInterface>(op.getOperation()).getActionOuts();
}

SmallVector<RankedTensorType> comm::sentTypes(CollectiveOpInterface op) { return tensorTypes(op.getSent().getTypes()); }

SmallVector<RankedTensorType> comm::receivedTypes(CollectiveOpInterface op) {
  OperandRange outs = outsOf(op);
  return outs.empty() ? tensorTypes(op->getResultTypes()) : tensorTypes(outs.getTypes());
}

static LogicalResult verifyForm(CollectiveOpInterface op) {
  TypeRange sent = op.getSent().getTypes();
  bool sendsReferences = llvm::any_of(sent, isReference), writesReferences = !outsOf(op).empty();
  // collective_c1
  if (sendsReferences && !llvm::all_of(sent, isReference))
    return op->emitOpError() << "sends tensors and references; an op is on values or in memory";
  if (writesReferences && !sent.empty() && !sendsReferences)
    return op->emitOpError() << "sends tensors but writes into references; tensors are received as results";
  if ((sendsReferences || writesReferences) && op->getNumResults() != 0)
    return op->emitOpError() << "has results, but is in memory; give the references to write as outs";
  // collective_c2
  if (!isa<BarrierOp>(op) && sent.empty() && !writesReferences && op->getNumResults() == 0)
    return op->emitOpError() << "sends nothing and receives nothing; comm.barrier only waits";
  return success();
}

LogicalResult comm::detail::verifyCollective(Operation *operation, SymbolTableCollection &tables) {
  auto op = cast<CollectiveOpInterface>(operation);
  FailureOr<Mesh> mesh = requireGroup(op, op.getMeshAttr(), op.getAxes(), tables);
  if (failed(mesh) || failed(verifyForm(op)))
    return failure();
  return op.verifyGroup(*mesh);
}

//===----------------------------------------------------------------------===//
// Kinds, roots and places
//===----------------------------------------------------------------------===//

bool PermuteOp::isTransfer() { return true; }
bool SendOp::isTransfer() { return true; }
bool RecvOp::isTransfer() { return true; }
bool BarrierOp::isTransfer() { return true; }
bool AllReduceOp::resultsAgree() { return true; }
bool AllGatherOp::resultsAgree() { return true; }
bool BroadcastOp::resultsAgree() { return true; }
std::optional<Reduction> AllReduceOp::getReductionKind() { return getKind(); }
std::optional<Reduction> ReduceScatterOp::getReductionKind() { return getKind(); }
std::optional<Reduction> ReduceOp::getReductionKind() { return getKind(); }
std::optional<int64_t> BroadcastOp::getRootRank() { return getRoot(); }
std::optional<int64_t> ReduceOp::getRootRank() { return getRoot(); }
std::optional<int64_t> GatherOp::getRootRank() { return getRoot(); }
std::optional<int64_t> ScatterOp::getRootRank() { return getRoot(); }

std::optional<int64_t> SendOp::getPeerRank() { return getPeer(); }
std::optional<int64_t> RecvOp::getPeerRank() { return getPeer(); }
ArrayRef<int64_t> AllGatherOp::getReceivedDims() { return getDims(); }
ArrayRef<int64_t> GatherOp::getReceivedDims() { return getDims(); }
ArrayRef<int64_t> ReduceScatterOp::getSentDims() { return getDims(); }
ArrayRef<int64_t> ScatterOp::getSentDims() { return getDims(); }
ArrayRef<int64_t> AllToAllOp::getSentDims() { return getSplit(); }
ArrayRef<int64_t> AllToAllOp::getReceivedDims() { return getConcat(); }

/// Element by element, once all ranks have read what is there.
bool AllReduceOp::mayWriteInPlace(unsigned result, unsigned in) { return result == in; }

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static int64_t bytes(ArrayRef<RankedTensorType> types) {
  int64_t sum = 0;
  for (RankedTensorType type : types)
    sum += bytesOf(type);
  return sum;
}

/// What is not the rank's own part of `all` bytes: (n-1)/n of them.
static int64_t othersPart(int64_t all, int64_t ranks) { return all - all / ranks; }

int64_t AllReduceOp::getBytesSent(int64_t ranks) { return 2 * othersPart(bytes(sentTypes(*this)), ranks); }
int64_t AllGatherOp::getBytesSent(int64_t ranks) { return (ranks - 1) * bytes(sentTypes(*this)); }
int64_t ReduceScatterOp::getBytesSent(int64_t ranks) { return (ranks - 1) * bytes(receivedTypes(*this)); }
int64_t AllToAllOp::getBytesSent(int64_t ranks) { return othersPart(bytes(sentTypes(*this)), ranks); }

/// The root scatters, then all gather.
int64_t BroadcastOp::getBytesSent(int64_t ranks) {
  return 2 * othersPart(bytes(getIns().empty() ? receivedTypes(*this) : sentTypes(*this)), ranks);
}
/// All reduce and scatter, then the root gathers.
int64_t ReduceOp::getBytesSent(int64_t ranks) { return 2 * othersPart(bytes(sentTypes(*this)), ranks); }
/// Received by the root.
int64_t GatherOp::getBytesSent(int64_t ranks) { return (ranks - 1) * bytes(sentTypes(*this)); }
/// Sent by the root.
int64_t ScatterOp::getBytesSent(int64_t ranks) { return (ranks - 1) * bytes(receivedTypes(*this)); }

int64_t PermuteOp::getBytesSent(int64_t) {
  ArrayRef<int64_t> pairs = getPairs();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i] != pairs[i + 1])
      return bytes(sentTypes(*this));
  return 0;
}

int64_t SendOp::getBytesSent(int64_t) { return bytes(sentTypes(*this)); }
int64_t RecvOp::getBytesSent(int64_t) { return bytes(receivedTypes(*this)); }
int64_t BarrierOp::getBytesSent(int64_t) { return 0; }

int64_t AllReduceOp::getMessagesSent(int64_t ranks) { return 2 * (ranks - 1); }
int64_t BroadcastOp::getMessagesSent(int64_t ranks) { return 2 * (ranks - 1); }
int64_t ReduceOp::getMessagesSent(int64_t ranks) { return 2 * (ranks - 1); }
