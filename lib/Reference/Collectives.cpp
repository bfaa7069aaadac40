//===- Collectives.cpp - results of collectives ---------------------------===//
//
// Computes all ranks of a group at once: from the tensors that they send to the tensors that
// they receive.  Reductions combine in the order of the group's ranks, in f64, and are
// rounded once at the end, so the result does not depend on the order in which ranks arrive.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Blocks.h"
#include "lib/Reference/Ranks.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

/// Returns the tensor types of values or references.
static SmallVector<Type> tensorTypes(TypeRange types) {
  SmallVector<Type> tensors;
  for (Type type : types) {
    auto ref = dyn_cast<exec::RefType>(type);
    tensors.push_back(ref ? Type(ref.getTensorType()) : type);
  }
  return tensors;
}

static SmallVector<Type> sentTypes(Operation *op) {
  return tensorTypes(cast<exec::ActionOpInterface>(op).getActionIns().getTypes());
}

static SmallVector<Type> receivedTypes(Operation *op) {
  if (op->getNumResults() > 0)
    return tensorTypes(op->getResultTypes());
  return tensorTypes(cast<exec::ActionOpInterface>(op).getActionOuts().getTypes());
}

static std::string typesText(ArrayRef<Type> types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(types, os);
  os << ')';
  return text;
}

static InFlightDiagnostic disagreement(const Member &a, const Member &b) {
  InFlightDiagnostic error = a.op->emitError();
  error.attachNote(b.op->getLoc()) << "rank " << b.rank << " is here";
  error << "rank " << a.rank << " and rank " << b.rank << " disagree: ";
  return error;
}

/// Compares the attributes of two members, except the sizes of operand segments, which
/// differ between a root and others.
static LogicalResult checkAttributes(const Member &a, const Member &b) {
  auto kindOf = [](const Member &member) { return cast<comm::CollectiveOpInterface>(member.op).getReductionKind(); };
  if (kindOf(a) != kindOf(b))
    return disagreement(a, b) << "one takes the " << comm::stringifyReduction(*kindOf(a)) << ", the other the "
                              << comm::stringifyReduction(*kindOf(b));
  auto left = dyn_cast_or_null<DictionaryAttr>(a.op->getPropertiesAsAttribute());
  auto right = dyn_cast_or_null<DictionaryAttr>(b.op->getPropertiesAsAttribute());
  if (!left || !right || left == right)
    return success();
  for (NamedAttribute attribute : left) {
    Attribute other = right.get(attribute.getName());
    if (attribute.getName() != "operandSegmentSizes" && attribute.getValue() != other)
      return disagreement(a, b) << "'" << attribute.getName().getValue() << "' is " << attribute.getValue() << " and "
                                << other;
  }
  return success();
}

static LogicalResult checkTypes(const Member &a, const Member &b, ArrayRef<Type> left, ArrayRef<Type> right,
                                StringRef verb) {
  if (left == right)
    return success();
  return disagreement(a, b) << "one " << verb << " " << typesText(left) << ", the other " << typesText(right);
}

LogicalResult braid::reference::checkAgreement(ArrayRef<Member> members) {
  const Member &first = members.front();
  if (cast<comm::CollectiveOpInterface>(first.op).getPeerRank()) {
    SmallVector<Type> sent = sentTypes(first.op), received = receivedTypes(members.back().op);
    if (sent != received)
      return disagreement(first, members.back())
             << "one sends " << typesText(sent) << ", the other receives " << typesText(received);
    return success();
  }
  // Members that send nothing, or receive nothing, are compared in everything else.
  const Member *sender = nullptr, *receiver = nullptr;
  for (const Member &member : members) {
    if (member.op == first.op && &member != &first)
      continue;
    if (failed(checkAttributes(first, member)))
      return failure();
    SmallVector<Type> sent = sentTypes(member.op), received = receivedTypes(member.op);
    if (sender && !sent.empty() && failed(checkTypes(*sender, member, sentTypes(sender->op), sent, "sends")))
      return failure();
    if (receiver && !received.empty() &&
        failed(checkTypes(*receiver, member, receivedTypes(receiver->op), received, "receives")))
      return failure();
    sender = sent.empty() ? sender : &member;
    receiver = received.empty() ? receiver : &member;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of the collectives
//===----------------------------------------------------------------------===//

/// Returns tensor `t` of every member.
static SmallVector<const Tensor *> column(ArrayRef<Member> members, size_t t) {
  SmallVector<const Tensor *> tensors;
  for (const Member &member : members)
    tensors.push_back(&member.sent[t]);
  return tensors;
}

/// Joins all blocks in the shape that `receiver` expects.
static Tensor gathered(ArrayRef<Member> members, size_t t, int64_t dim, Operation *receiver) {
  return joinBlocks(column(members, t), dim, resultType(receiver, t).getShape());
}

static void run(comm::AllReduceOp op, ArrayRef<Member> members, Received &out) {
  for (size_t t = 0; t < op.getIns().size(); ++t) {
    Tensor combined = combine(op.getKind(), column(members, t));
    for (auto &received : out)
      received.push_back(combined);
  }
}

static void run(comm::AllGatherOp op, ArrayRef<Member> members, Received &out) {
  for (auto [t, dim] : llvm::enumerate(op.getDims())) {
    Tensor whole = gathered(members, t, dim, op);
    for (auto &received : out)
      received.push_back(whole);
  }
}

static void run(comm::ReduceScatterOp op, ArrayRef<Member> members, Received &out) {
  for (auto [t, dim] : llvm::enumerate(op.getDims())) {
    Tensor combined = combine(op.getKind(), column(members, t));
    for (size_t i = 0; i < members.size(); ++i)
      out[i].push_back(blockOf(combined, dim, members.size(), i));
  }
}

static void run(comm::AllToAllOp op, ArrayRef<Member> members, Received &out) {
  for (size_t t = 0; t < op.getIns().size(); ++t)
    for (size_t i = 0; i < members.size(); ++i) {
      SmallVector<Tensor> blocks;
      for (const Tensor *tensor : column(members, t))
        blocks.push_back(blockOf(*tensor, op.getSplit()[t], members.size(), i));
      SmallVector<const Tensor *> pointers;
      for (const Tensor &block : blocks)
        pointers.push_back(&block);
      out[i].push_back(joinBlocks(pointers, op.getConcat()[t], resultType(op, t).getShape()));
    }
}

/// Returns whether a member of a rooted collective receives the results.
static bool receives(const Member &member) { return !receivedTypes(member.op).empty(); }

static void run(comm::BroadcastOp op, ArrayRef<Member> members, Received &out) {
  for (auto [member, received] : llvm::zip_equal(members, out))
    if (receives(member))
      received.assign(members[op.getRoot()].sent.begin(), members[op.getRoot()].sent.end());
}

static void run(comm::ReduceOp op, ArrayRef<Member> members, Received &out) {
  if (receives(members[op.getRoot()]))
    for (size_t t = 0; t < op.getIns().size(); ++t)
      out[op.getRoot()].push_back(combine(op.getKind(), column(members, t)));
}

static void run(comm::GatherOp op, ArrayRef<Member> members, Received &out) {
  const Member &root = members[op.getRoot()];
  if (receives(root))
    for (auto [t, dim] : llvm::enumerate(op.getDims()))
      out[op.getRoot()].push_back(gathered(members, t, dim, root.op));
}

static void run(comm::ScatterOp op, ArrayRef<Member> members, Received &out) {
  for (auto [t, dim] : llvm::enumerate(op.getDims()))
    for (size_t i = 0; i < members.size(); ++i)
      out[i].push_back(blockOf(members[op.getRoot()].sent[t], dim, members.size(), i));
}

static void run(comm::PermuteOp op, ArrayRef<Member> members, Received &out) {
  for (size_t i = 0; i < members.size(); ++i)
    for (const Tensor &tensor : members[i].sent)
      out[i].push_back(Tensor(tensor.shape, tensor.elementType));
  ArrayRef<int64_t> pairs = op.getPairs();
  for (size_t p = 0; p + 1 < pairs.size(); p += 2)
    out[pairs[p + 1]].assign(members[pairs[p]].sent.begin(), members[pairs[p]].sent.end());
}

static void run(comm::SendOp, ArrayRef<Member> members, Received &out) {
  out.back().assign(members.front().sent.begin(), members.front().sent.end());
}

static void run(comm::BarrierOp, ArrayRef<Member>, Received &) {}

Received braid::reference::communicate(ArrayRef<Member> members, Arithmetic arithmetic) {
  Received received(members.size());
  llvm::TypeSwitch<Operation *>(members.front().op)
      .Case<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp, comm::AllToAllOp, comm::BroadcastOp,
            comm::ReduceOp, comm::GatherOp, comm::ScatterOp, comm::PermuteOp, comm::SendOp, comm::BarrierOp>(
          [&](auto op) { run(op, members, received); })
      .Default([](Operation *) { llvm_unreachable("a collective the interpreter does not know"); });
  if (arithmetic == Arithmetic::Native)
    for (auto &tensors : received)
      for (Tensor &tensor : tensors)
        tensor.round();
  return received;
}
