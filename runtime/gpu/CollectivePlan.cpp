//===- CollectivePlan.cpp - steps of a collective on a device -------------===//

#include "gpu/CollectivePlan.h"

#include "comm/Blocks.h"

using namespace braid;

namespace {

class Planner {
public:
  Planner(const Operation &operation, std::byte *scratch, bool sameTables, bool communicatesAlone)
      : op(operation), n(operation.group->size()), me(operation.group->me), width(elementSize(operation.dtype())),
        scratch(scratch), sameTables(sameTables), isAlone(n == 1 && !communicatesAlone) {}

  CollectivePlan run();

private:
  void planSegment(const br_segment &s);
  void planAlone(const br_segment &s);
  void planReduce(const br_segment &s);
  void planTransfer(const br_segment &s);
  void planReduceScatter(const br_segment &s);
  void planAllGather(const br_segment &s);
  void planGather(const br_segment &s);
  void planScatter(const br_segment &s);
  void planAllToAll(const br_segment &s);

  void addWhole(const br_segment &s, Move::Kind kind, const void *from, void *to);
  void add(Move::Kind kind, const void *from, void *to, int64_t count, int peer);
  void copyOwn(std::vector<StridedCopy> &copies, const std::byte *from, std::byte *to, int64_t count);
  void zeroPadding(const br_segment &s, int rows);

  // Memory of a tensor's blocks in order: the tensor itself, or scratch if blocks are parts of
  // rows.  at() returns the address of one block.
  std::byte *packed(const br_segment &s, const void *whole, int rows);
  std::byte *unpacked(const br_segment &s, void *whole, int rows);
  std::byte *reserve(int64_t elements);
  std::byte *at(std::byte *blocks, const br_segment &s, int block) const {
    return blocks + blockCapacity(s.count, n) * block * width;
  }

  const Operation &op;
  const int n, me;
  const int64_t width; // bytes of an element
  std::byte *const scratch;
  const bool sameTables;
  const bool isAlone;               // a group of one rank, which makes no library calls
  const br_segment *last = nullptr; // the last whole tensor
  CollectivePlan plan;
};

const std::byte *bytes(const void *p) { return static_cast<const std::byte *>(p); }
std::byte *bytes(void *p) { return static_cast<std::byte *>(p); }

CollectivePlan Planner::run() {
  if (op.row().movesNothing() && !isAlone) {
    std::byte *token = reserve(1);
    add(Move::Kind::AllReduce, token, token, 1, 0);
  }
  for (const br_segment &segment : op.segments)
    if (segment.count > 0)
      planSegment(segment);
  return std::move(plan);
}

void Planner::planSegment(const br_segment &s) {
  if (isAlone)
    return planAlone(s);
  const CollectiveKind &row = op.row();
  if (row.reduces)
    return row.received.form == Form::Block ? planReduceScatter(s) : planReduce(s);
  if (row.sent.form == Form::Blocks)
    return row.received.form == Form::Blocks ? planAllToAll(s) : planScatter(s);
  if (row.sent.form == Form::Block)
    return row.received.participants == Participants::Root ? planGather(s) : planAllGather(s);
  if (row.hasRoot())
    return addWhole(s, Move::Kind::Broadcast, op.isRoot() ? s.send : nullptr, s.recv);
  planTransfer(s);
}

// A group of one rank has one block, the whole tensor, however it is split.
void Planner::planAlone(const br_segment &s) {
  if (op.row().sent.form == Form::Whole && op.source() < 0)
    plan.zeros.push_back({bytes(s.recv), static_cast<size_t>(s.count * width)});
  else
    copyOwn(plan.before, bytes(s.send), bytes(s.recv), s.count);
}

void Planner::planReduce(const br_segment &s) {
  if (op.row().hasRoot())
    addWhole(s, Move::Kind::Reduce, s.send, op.isRoot() ? s.recv : nullptr);
  else
    addWhole(s, Move::Kind::AllReduce, s.send, s.recv);
}

// A whole tensor from one rank to another.
void Planner::planTransfer(const br_segment &s) {
  int source = op.source(), target = op.target();
  if (source == me && n > 1)
    return copyOwn(plan.before, bytes(s.send), bytes(s.recv), s.count);
  if (target >= 0)
    add(Move::Kind::Send, s.send, nullptr, s.count, target);
  if (source >= 0)
    add(Move::Kind::Recv, nullptr, s.recv, s.count, source);
  else if (op.receives(me))
    plan.zeros.push_back({bytes(s.recv), static_cast<size_t>(s.count * width)});
}

//===----------------------------------------------------------------------===//
// Kinds that split tensors into blocks
//===----------------------------------------------------------------------===//

void Planner::planReduceScatter(const br_segment &s) {
  std::byte *blocks = packed(s, s.send, s.send_rows);
  if (s.count % n == 0)
    return add(Move::Kind::ReduceScatter, blocks, s.recv, s.count / n, me);
  for (int owner = 0; owner < n; ++owner)
    add(Move::Kind::Reduce, at(blocks, s, owner), owner == me ? s.recv : nullptr, blockCount(s.count, 1, n, owner),
        owner);
  zeroPadding(s, s.send_rows);
}

void Planner::planAllGather(const br_segment &s) {
  std::byte *blocks = unpacked(s, s.recv, s.recv_rows);
  if (s.count % n == 0)
    return add(Move::Kind::AllGather, s.send, blocks, s.count / n, me);
  int64_t own = blockCount(s.count, 1, n, me);
  for (int peer = 0; peer < n; ++peer) {
    if (peer == me)
      continue;
    add(Move::Kind::Send, s.send, nullptr, own, peer);
    add(Move::Kind::Recv, nullptr, at(blocks, s, peer), blockCount(s.count, 1, n, peer), peer);
  }
  copyOwn(plan.before, bytes(s.send), at(blocks, s, me), own);
}

void Planner::planGather(const br_segment &s) {
  int64_t own = blockCount(s.count, s.recv_rows, n, me);
  if (!op.isRoot())
    return add(Move::Kind::Send, s.send, nullptr, own, op.root());
  std::byte *blocks = unpacked(s, s.recv, s.recv_rows);
  for (int peer = 0; peer < n; ++peer)
    if (peer != me)
      add(Move::Kind::Recv, nullptr, at(blocks, s, peer), blockCount(s.count, s.recv_rows, n, peer), peer);
  copyOwn(plan.before, bytes(s.send), at(blocks, s, me), own);
}

void Planner::planScatter(const br_segment &s) {
  int64_t own = blockCount(s.count, s.send_rows, n, me);
  if (op.isRoot()) {
    std::byte *blocks = packed(s, s.send, s.send_rows);
    for (int peer = 0; peer < n; ++peer)
      if (peer != me)
        add(Move::Kind::Send, at(blocks, s, peer), nullptr, blockCount(s.count, s.send_rows, n, peer), peer);
    copyOwn(plan.before, at(blocks, s, me), bytes(s.recv), own);
  } else {
    add(Move::Kind::Recv, nullptr, s.recv, own, op.root());
  }
  zeroPadding(s, s.send_rows);
}

// Both layouts visit the elements of a block in the same order.
void Planner::planAllToAll(const br_segment &s) {
  std::byte *sent = packed(s, s.send, s.send_rows), *received = unpacked(s, s.recv, s.recv_rows);
  for (int peer = 0; peer < n; ++peer) {
    if (peer == me)
      continue;
    add(Move::Kind::Send, at(sent, s, peer), nullptr, s.count / n, peer);
    add(Move::Kind::Recv, nullptr, at(received, s, peer), s.count / n, peer);
  }
  copyOwn(plan.before, at(sent, s, me), at(received, s, me), s.count / n);
}

//===----------------------------------------------------------------------===//
// Parts of plans
//===----------------------------------------------------------------------===//

// Merges a tensor into the previous move if it follows the previous tensor in memory.  All ranks
// must decide alike, so both addresses count, though only the root may use one of them.
void Planner::addWhole(const br_segment &s, Move::Kind kind, const void *from, void *to) {
  int64_t size = last ? last->count * width : 0;
  bool joins = sameTables && last && bytes(last->send) + size == s.send && bytes(last->recv) + size == s.recv;
  last = &s;
  if (joins)
    plan.moves.back().count += s.count;
  else
    add(kind, from, to, s.count, op.root());
}

void Planner::add(Move::Kind kind, const void *from, void *to, int64_t count, int peer) {
  if (count > 0)
    plan.moves.push_back({kind, bytes(from), bytes(to), count, peer});
}

void Planner::copyOwn(std::vector<StridedCopy> &copies, const std::byte *from, std::byte *to, int64_t count) {
  size_t size = count * width;
  if (size > 0 && from != to)
    copies.push_back({from, to, size, 1, size, size});
}

void Planner::zeroPadding(const br_segment &s, int rows) {
  int64_t filled = blockCount(s.count, rows, n, me), padding = blockCapacity(s.count, n) - filled;
  if (padding > 0)
    plan.zeros.push_back({bytes(s.recv) + filled * width, static_cast<size_t>(padding * width)});
}

std::byte *Planner::reserve(int64_t elements) {
  constexpr size_t alignment = 256;
  std::byte *place = scratch + plan.scratchBytes;
  plan.scratchBytes += (elements * width + alignment - 1) / alignment * alignment;
  return place;
}

std::byte *Planner::packed(const br_segment &s, const void *whole, int rows) {
  if (rows == 1)
    return const_cast<std::byte *>(bytes(whole)); // only read
  std::byte *blocks = reserve(s.count);
  size_t piece = s.count / rows / n * width;
  for (int block = 0; block < n; ++block)
    plan.before.push_back(
        {bytes(whole) + block * piece, at(blocks, s, block), piece, static_cast<size_t>(rows), n * piece, piece});
  return blocks;
}

std::byte *Planner::unpacked(const br_segment &s, void *whole, int rows) {
  if (rows == 1)
    return bytes(whole);
  std::byte *blocks = reserve(s.count);
  size_t piece = s.count / rows / n * width;
  for (int block = 0; block < n; ++block)
    plan.after.push_back(
        {at(blocks, s, block), bytes(whole) + block * piece, piece, static_cast<size_t>(rows), piece, n * piece});
  return blocks;
}

} // namespace

CollectivePlan braid::planCollective(const Operation &operation, std::byte *scratch, bool sameTables,
                                     bool communicatesAlone) {
  return Planner(operation, scratch, sameTables, communicatesAlone).run();
}
