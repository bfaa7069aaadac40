//===- Operation.cpp - one operation, checked and described ---------------===//

#include "comm/Operation.h"

#include "base/Error.h"

using namespace braid;

namespace {

constexpr const char *collectiveNames[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                           "broadcast",  "reduce",         "gather",     "scatter",
                                           "permute",    "send",           "recv",       "barrier"};
constexpr const char *reductionNames[] = {"sum", "mean", "max", "min"};
constexpr const char *dtypeNames[] = {"f64", "f32", "bf16", "i32", "i64", "i1"};

bool reduces(int kind) { return kind == BR_ALL_REDUCE || kind == BR_REDUCE_SCATTER || kind == BR_REDUCE; }

bool hasRoot(int kind) {
  return kind == BR_BROADCAST || kind == BR_REDUCE || kind == BR_GATHER || kind == BR_SCATTER || kind == BR_SEND ||
         kind == BR_RECV;
}

bool splitsSent(int kind) { return kind == BR_REDUCE_SCATTER || kind == BR_SCATTER || kind == BR_ALL_TO_ALL; }
bool splitsReceived(int kind) { return kind == BR_ALL_GATHER || kind == BR_GATHER || kind == BR_ALL_TO_ALL; }

// FNV-1a over 64-bit words.
void mix(uint64_t &hash, uint64_t word) { hash = (hash ^ word) * 0x100000001b3ull; }

void checkRows(const Operation &op, const br_segment &segment, size_t index, int32_t rows) {
  int64_t n = op.group->size();
  bool wholeBlocks = rows > 1 || op.kind() == BR_ALL_TO_ALL;
  if (rows < 1 || (wholeBlocks && segment.count % (rows * n) != 0))
    fail(collectiveNames[op.kind()], ": segment ", index, " has ", segment.count, " elements, which are not ", rows,
         " rows of ", n, " equal blocks");
}

void checkSegments(const Operation &op) {
  for (size_t i = 0; i < op.segments.size(); ++i) {
    const br_segment &segment = op.segments[i];
    if (segment.count < 0)
      fail(collectiveNames[op.kind()], ": segment ", i, " has ", segment.count, " elements");
    if (splitsSent(op.kind()))
      checkRows(op, segment, i, segment.send_rows);
    if (splitsReceived(op.kind()))
      checkRows(op, segment, i, segment.recv_rows);
  }
}

void checkReduction(const Operation &op) {
  bool isFloat = op.dtype() == BR_F32 || op.dtype() == BR_F64 || op.dtype() == BR_BF16;
  bool wrong = op.reduction() == BR_MEAN ? !isFloat : op.reduction() == BR_SUM && op.dtype() == BR_I1;
  if (wrong)
    fail(collectiveNames[op.kind()], ": reduction '", reductionNames[op.reduction()],
         "' is not defined for element type ", dtypeNames[op.dtype()]);
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
  if (kind < 0 || kind > BR_BARRIER || description.dtype < 0 || description.dtype > BR_I1 ||
      (reduces(kind) && (description.reduction < 0 || description.reduction > BR_MIN)))
    fail("operation #", number, " has kind ", kind, ", element type ", static_cast<int>(description.dtype),
         " and reduction ", static_cast<int>(description.reduction), "; at least one of them is unknown");
  if (group.me < 0)
    fail("this rank starts ", collectiveNames[kind], " over group ", describe(group), ", but is not a member of it");
  this->group = &group;
  segments.assign(description.segments, description.segments + description.n_segments);
  pairs.clear();
  if (kind == BR_PERMUTE)
    pairs.assign(description.pairs, description.pairs + 2 * description.n_pairs);
  signature = {};
  signature.number = number;
  signature.kind = kind;
  signature.dtype = description.dtype;
  signature.reduction = reduces(kind) ? description.reduction : 0;
  signature.root = hasRoot(kind) ? description.root : 0;
  if (signature.root < 0 || signature.root >= group.size())
    fail(collectiveNames[kind], ": rank ", signature.root, " is not in a group of ", group.size());
  if (isTransfer() && signature.root == group.me)
    fail(collectiveNames[kind], ": a rank cannot send to itself");
  checkSegments(*this);
  checkPairs(*this);
  if (reduces(kind))
    checkReduction(*this);
  signature.layout = 0xcbf29ce484222325ull;
  mix(signature.layout, group.id);
  for (int rank : group.ranks)
    mix(signature.layout, rank);
  for (int32_t rank : pairs)
    mix(signature.layout, rank);
  for (const br_segment &segment : segments) {
    mix(signature.layout, segment.count);
    if (splitsSent(kind))
      mix(signature.layout, segment.send_rows);
    if (splitsReceived(kind))
      mix(signature.layout, segment.recv_rows);
    signature.elements += segment.count;
  }
}

int Operation::permuteSource() const {
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i + 1] == group->me)
      return pairs[i];
  return -1;
}

int Operation::permuteTarget() const {
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] == group->me)
      return pairs[i + 1];
  return -1;
}

bool braid::match(const Signature &mine, int me, const Signature &theirs, int them) {
  bool same = mine.dtype == theirs.dtype && mine.layout == theirs.layout && mine.elements == theirs.elements;
  if (mine.kind == BR_SEND || mine.kind == BR_RECV) {
    int opposite = mine.kind == BR_SEND ? BR_RECV : BR_SEND;
    return same && theirs.kind == opposite && mine.root == them && theirs.root == me;
  }
  // Elements and types do not matter where none move.
  if (mine.kind == BR_BARRIER)
    return theirs.kind == BR_BARRIER;
  return same && mine.kind == theirs.kind && mine.reduction == theirs.reduction && mine.root == theirs.root;
}

std::string braid::describe(const Signature &s, const Group &group) {
  std::string text = concat(collectiveNames[s.kind], " #", s.number);
  if (s.kind == BR_BARRIER)
    return text;
  text += " (";
  if (reduces(s.kind))
    text += concat(reductionNames[s.reduction], ", ");
  if (hasRoot(s.kind) && s.root < group.size()) // else of a group that differs
    text += concat(s.kind == BR_SEND ? "to" : s.kind == BR_RECV ? "from" : "root", " ", group.ranks[s.root], ", ");
  return text + concat(dtypeNames[s.dtype], ", ", s.elements, " elements)");
}

std::string braid::describe(const Group &group) {
  std::string text;
  for (int rank : group.ranks)
    text += concat(text.empty() ? "{" : ", ", rank);
  return text + "}";
}
