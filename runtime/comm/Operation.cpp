//===- Operation.cpp - a checked operation and its text -------------------===//

#include "comm/Operation.h"

#include "base/Error.h"

using namespace braid;

namespace {

constexpr const char *reductionNames[] = {"sum", "mean", "max", "min"};

// Updates an FNV-1a hash over 64-bit words.
void mix(uint64_t &hash, uint64_t word) { hash = (hash ^ word) * 0x100000001b3ull; }

void checkRows(const Operation &op, const br_segment &segment, size_t index, int32_t rows) {
  int64_t n = op.group->size();
  // If a rank sends and receives blocks only, no block may be short.
  bool wholeBlocks = rows > 1 || (op.row().sent.form == Form::Blocks && op.row().received.form == Form::Blocks);
  if (rows < 1 || (wholeBlocks && segment.count % (rows * n) != 0))
    fail(op.row().name, ": segment ", index, " has ", segment.count, " elements, which are not ", rows, " rows of ", n,
         " equal blocks");
}

void checkSegments(const Operation &op) {
  for (size_t i = 0; i < op.segments.size(); ++i) {
    const br_segment &segment = op.segments[i];
    if (segment.count < 0)
      fail(op.row().name, ": segment ", i, " has ", segment.count, " elements");
    bool both = segment.count > 0 && op.sends(op.group->me) && op.receives(op.group->me);
    if (both && op.row().inPlace == InPlace::Never && segment.send == segment.recv)
      fail(op.row().name, ": segment ", i,
           " is received into the memory that it is sent from; give it separate memory");
    if (op.row().sent.form == Form::Blocks)
      checkRows(op, segment, i, segment.send_rows);
    if (op.row().received.form == Form::Blocks)
      checkRows(op, segment, i, segment.recv_rows);
  }
}

void checkReduction(const Operation &op) {
  bool isFloat = op.dtype() == BR_F32 || op.dtype() == BR_F64 || op.dtype() == BR_BF16;
  bool wrong = op.reduction() == BR_MEAN ? !isFloat : op.reduction() == BR_SUM && op.dtype() == BR_I1;
  if (wrong)
    fail(op.row().name, ": reduction '", reductionNames[op.reduction()], "' is not defined for element type ",
         nameOf(op.dtype()));
}

void checkPairs(const Operation &op) {
  std::vector<bool> seen[2] = {std::vector<bool>(op.group->size()), std::vector<bool>(op.group->size())};
  for (size_t i = 0; i < op.pairs.size(); ++i) {
    int32_t rank = op.pairs[i];
    const char *part = i % 2 ? "the target" : "the source";
    if (rank < 0 || rank >= op.group->size())
      fail("permute: ", part, " of a pair is rank ", rank, ", but the group has ", op.group->size(), " ranks");
    if (seen[i % 2][rank])
      fail("permute: rank ", rank, " is ", part, " of two pairs; expected at most one");
    seen[i % 2][rank] = true;
  }
}

} // namespace

void Operation::assign(const br_operation &description, const Group &group, uint64_t number) {
  int kind = description.kind;
  if (kind < 0 || kind >= collectiveKindCount || description.dtype < 0 || description.dtype > BR_I8 ||
      (rowOf(kind).reduces && (description.reduction < 0 || description.reduction > BR_MIN)))
    fail("operation #", number, " has kind ", kind, ", element type ", static_cast<int>(description.dtype),
         " and reduction ", static_cast<int>(description.reduction), "; at least one of them is unknown");
  const CollectiveKind &row = rowOf(kind);
  if (group.me < 0)
    fail("this rank starts ", row.name, " over group ", describe(group), ", but is not a member of it");
  this->group = &group;
  segments.assign(description.segments, description.segments + description.n_segments);
  pairs.clear();
  if (row.naming == Naming::Pairs)
    pairs.assign(description.pairs, description.pairs + 2 * description.n_pairs);
  signature = {};
  signature.number = number;
  signature.kind = kind;
  signature.dtype = description.dtype;
  signature.reduction = row.reduces ? description.reduction : 0;
  signature.root = row.hasRoot() || row.hasPeer() ? description.root : 0;
  if (signature.root < 0 || signature.root >= group.size())
    fail(row.name, ": rank ", signature.root, " is not in a group of ", group.size());
  if (row.hasPeer() && signature.root == group.me)
    fail(row.name, ": a rank cannot send to itself");
  checkPairs(*this);
  checkSegments(*this);
  if (row.reduces)
    checkReduction(*this);
  signature.layout = 0xcbf29ce484222325ull;
  mix(signature.layout, group.id);
  for (int rank : group.ranks)
    mix(signature.layout, rank);
  for (int32_t rank : pairs)
    mix(signature.layout, rank);
  for (const br_segment &segment : segments) {
    mix(signature.layout, segment.count);
    if (row.sent.form == Form::Blocks)
      mix(signature.layout, segment.send_rows);
    if (row.received.form == Form::Blocks)
      mix(signature.layout, segment.recv_rows);
    signature.elements += segment.count;
  }
}

bool Operation::participates(Participants participants, int place) const {
  switch (participants) {
  case Participants::Nobody:
    return false;
  case Participants::Everyone:
    return true;
  case Participants::Root:
    return place == root();
  case Participants::Sources:
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] == place)
        return true;
    return false;
  }
  return false;
}

int Operation::source() const {
  if (row().naming != Naming::Pairs)
    return receives(group->me) ? root() : -1;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i + 1] == group->me)
      return pairs[i];
  return -1;
}

int Operation::target() const {
  if (row().naming != Naming::Pairs)
    return sends(group->me) ? root() : -1;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] == group->me)
      return pairs[i + 1];
  return -1;
}

bool braid::match(const Signature &own, int ownPlace, const Signature &peer, int peerPlace) {
  bool same = own.dtype == peer.dtype && own.layout == peer.layout && own.elements == peer.elements;
  const CollectiveKind &row = rowOf(own.kind), &other = rowOf(peer.kind);
  // A send matches a receive.
  if (row.hasPeer())
    return same && other.hasPeer() && other.sent.participants == row.received.participants && own.root == peerPlace &&
           peer.root == ownPlace;
  // Elements and types are ignored if no data moves.
  if (row.movesNothing())
    return peer.kind == own.kind;
  return same && own.kind == peer.kind && own.reduction == peer.reduction && own.root == peer.root;
}

std::string braid::describe(const Signature &s, const Group &group) {
  const CollectiveKind &row = rowOf(s.kind);
  std::string text = concat(row.name, " #", s.number);
  if (row.movesNothing())
    return text;
  text += " (";
  if (row.reduces)
    text += concat(reductionNames[s.reduction], ", ");
  const char *preposition = row.hasRoot() ? "root" : row.sent.participants == Participants::Nobody ? "from" : "to";
  if ((row.hasRoot() || row.hasPeer()) && s.root < group.size()) // else it is of another group
    text += concat(preposition, " ", group.ranks[s.root], ", ");
  return text + concat(nameOf(static_cast<br_dtype>(s.dtype)), ", ", s.elements, " elements)");
}

std::string braid::describe(const Group &group) {
  std::string text;
  for (int rank : group.ranks)
    text += concat(text.empty() ? "{" : ", ", rank);
  return text + "}";
}
