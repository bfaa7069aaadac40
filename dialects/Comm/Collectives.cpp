//===- Collectives.cpp - effects, operands and bytes of collectives -------===//
//
// Effects of collectives, the tensors that go in and out on values or in memory, and
// the bytes that are sent. CollectiveVerifier.cpp has the constraints.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// On values, a collective is pure if all ranks run the function: removing or merging
/// it has the same result on each rank. It has an effect if only some ranks run it, if
/// it has no results, or if its result belongs to a ticket.
void comm::detail::collectEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  ProgramAttr program = enclosingProgram(op);
  bool onlySome = program && program.getAxis();
  if (onlySome || op->getNumResults() == 0 || isa<StartOp>(op->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// On values and in memory
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static int64_t bytes(ArrayRef<RankedTensorType> types) {
  int64_t sum = 0;
  for (RankedTensorType type : types)
    sum += bytesOf(type);
  return sum;
}

int64_t comm::wholeBytes(CollectiveOpInterface op) { return std::max(bytes(sentTypes(op)), bytes(receivedTypes(op))); }

/// Returns the bytes of the whole tensors. Includes the padding to equal blocks if a rank has one block of each.
static int64_t paddedBytes(CollectiveOpInterface op, int64_t ranks) {
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  if (op.getRow().sent.form == Form::Block)
    return ranks * bytes(sent);
  if (op.getRow().received.form == Form::Block)
    return ranks * bytes(received);
  return bytes(sent.empty() ? received : sent);
}

int64_t comm::detail::bytesSent(Operation *operation, int64_t ranks) {
  auto op = cast<CollectiveOpInterface>(operation);
  // A rank that sends to itself transfers nothing.
  if (ArrayRef<int64_t> pairs = op.getPairs(); op.getRow().naming == Naming::Pairs) {
    bool isLocal = true;
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      isLocal &= pairs[i] == pairs[i + 1];
    if (isLocal)
      return 0;
  }
  return op.getRow().bytesSent(paddedBytes(op, ranks), ranks);
}
