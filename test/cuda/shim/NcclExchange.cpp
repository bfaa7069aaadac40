//===- NcclExchange.cpp - what ranks of a communicator have come to -------===//
#include "NcclExchange.h"

#include "Queues.h"
#include "Violation.h"
#include "cuda_bf16.h"

#include <algorithm>
#include <cstring>

using namespace shim;

namespace {

double element(const void *at, ncclDataType_t type, size_t i) {
  switch (type) {
  case ncclFloat32:
    return static_cast<const float *>(at)[i];
  case ncclFloat64:
    return static_cast<const double *>(at)[i];
  case ncclBfloat16:
    return static_cast<const __nv_bfloat16 *>(at)[i];
  case ncclInt32:
    return static_cast<const int32_t *>(at)[i];
  case ncclInt64:
    return static_cast<const int64_t *>(at)[i];
  case ncclInt8:
    return static_cast<const int8_t *>(at)[i];
  case ncclUint8:
    return static_cast<const uint8_t *>(at)[i];
  default:
    violation(format("reduction of elements of NCCL's type %d", type), false);
  }
}

void setElement(void *at, ncclDataType_t type, size_t i, double value) {
  switch (type) {
  case ncclFloat32:
    static_cast<float *>(at)[i] = value;
    break;
  case ncclFloat64:
    static_cast<double *>(at)[i] = value;
    break;
  case ncclBfloat16:
    static_cast<__nv_bfloat16 *>(at)[i] = __nv_bfloat16(float(value));
    break;
  case ncclInt32:
    static_cast<int32_t *>(at)[i] = value;
    break;
  case ncclInt64:
    static_cast<int64_t *>(at)[i] = value;
    break;
  case ncclInt8:
    static_cast<int8_t *>(at)[i] = value;
    break;
  default:
    static_cast<uint8_t *>(at)[i] = value;
  }
}

double combine(ncclRedOp_t op, double a, double b) {
  switch (op) {
  case ncclProd:
    return a * b;
  case ncclMax:
    return std::max(a, b);
  case ncclMin:
    return std::min(a, b);
  default:
    return a + b;
  }
}

// A range of a rank's memory, which must be on its device.
Allocation &checked(const NcclOp &op, const void *pointer, size_t bytes) {
  Allocation *allocation = findAllocation(pointer);
  if (!allocation || !allocation->holds(pointer, bytes) || allocation->device != op.comm->device)
    violation(describe(op) + " of memory that is not the rank's device's", false);
  if (reinterpret_cast<uintptr_t>(pointer) % sizeOf(op.type))
    violation(describe(op) + " of misaligned memory", false);
  return *allocation;
}

struct Bytes {
  std::vector<char> data;
  std::vector<uint8_t> known;
};

Bytes take(const NcclOp &op, const void *pointer, size_t bytes) {
  Bytes result;
  if (!bytes)
    return result;
  Allocation &allocation = checked(op, pointer, bytes);
  const char *from = static_cast<const char *>(pointer);
  result.data.assign(from, from + bytes);
  const uint8_t *known = allocation.shadow->knownAt(from - allocation.base);
  result.known.assign(known, known + bytes);
  return result;
}

void give(const NcclOp &op, const Bytes &bytes, size_t offset, size_t count) {
  if (!count)
    return;
  Allocation &allocation = checked(op, op.to, count);
  std::memcpy(op.to, bytes.data.data() + offset, count);
  allocation.shadow->setKnown(static_cast<char *>(op.to) - allocation.base, bytes.known.data() + offset, count);
}

Bytes reduced(const std::vector<NcclOp> &ops, const std::vector<Bytes> &all) {
  Bytes result = all[0];
  const NcclOp &op = ops[0];
  for (size_t i = 0; i < result.data.size() / sizeOf(op.type); ++i) {
    double value = element(all[0].data.data(), op.type, i);
    for (size_t r = 1; r < all.size(); ++r)
      value = combine(op.reduction, value, element(all[r].data.data(), op.type, i));
    setElement(result.data.data(), op.type, i, op.reduction == ncclAvg ? value / all.size() : value);
  }
  for (const Bytes &one : all)
    for (size_t i = 0; i < result.known.size(); ++i)
      result.known[i] &= one.known[i];
  return result;
}

void checkAgreement(const std::vector<NcclOp> &ops) {
  for (size_t r = 1; r < ops.size(); ++r) {
    const NcclOp &a = ops[0], &b = ops[r];
    bool reduces = a.kind == NcclKind::AllReduce || a.kind == NcclKind::ReduceScatter || a.kind == NcclKind::Reduce;
    bool rooted = a.kind == NcclKind::Broadcast || a.kind == NcclKind::Reduce;
    if (a.kind != b.kind || a.count != b.count || a.type != b.type || (reduces && a.reduction != b.reduction) ||
        (rooted && a.peer != b.peer))
      violation("ranks disagree: " + describe(a) + ", but " + describe(b), false);
  }
}

// All ranks have arrived.
void exchange(const std::vector<NcclOp> &ops) {
  checkAgreement(ops);
  std::vector<Bytes> all;
  for (const NcclOp &op : ops)
    all.push_back(take(op, op.from, op.sent()));
  Bytes result;
  switch (ops[0].kind) {
  case NcclKind::AllReduce:
  case NcclKind::ReduceScatter:
  case NcclKind::Reduce:
    result = reduced(ops, all);
    break;
  case NcclKind::Broadcast:
    result = all[ops[0].peer];
    break;
  default: // blocks, in order of the ranks
    for (const Bytes &one : all) {
      result.data.insert(result.data.end(), one.data.begin(), one.data.end());
      result.known.insert(result.known.end(), one.known.begin(), one.known.end());
    }
  }
  for (size_t r = 0; r < ops.size(); ++r)
    give(ops[r], result, ops[0].kind == NcclKind::ReduceScatter ? r * ops[r].received() : 0, ops[r].received());
}

void match(std::deque<PostedPtr> &sends, std::deque<PostedPtr> &receives) {
  if (sends.empty() || receives.empty())
    return;
  NcclOp &send = sends.front()->op, &receive = receives.front()->op;
  if (send.count != receive.count || send.type != receive.type)
    violation("ranks disagree: " + describe(send) + ", but " + describe(receive), false);
  give(receive, take(send, send.from, send.sent()), 0, receive.received());
  sends.front()->done = receives.front()->done = true;
  sends.pop_front();
  receives.pop_front();
}

} // namespace

size_t shim::sizeOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64:
    return 8;
  default:
    return 4;
  }
}

size_t NcclOp::sent() const {
  if (kind == NcclKind::Recv || (kind == NcclKind::Broadcast && comm->rank != peer))
    return 0;
  return count * sizeOf(type) * (kind == NcclKind::ReduceScatter ? comm->clique->size : 1);
}

size_t NcclOp::received() const {
  bool isRootInPlace = kind == NcclKind::Broadcast && comm->rank == peer && from == to;
  if (isRootInPlace || kind == NcclKind::Send || (kind == NcclKind::Reduce && comm->rank != peer))
    return 0;
  return count * sizeOf(type) * (kind == NcclKind::AllGather ? comm->clique->size : 1);
}

const char *shim::nameOf(NcclKind kind) {
  static constexpr const char *names[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                          "reduce",     "send",           "recv"};
  return names[int(kind)];
}

std::string shim::describe(const NcclOp &op) {
  return format("rank %d of communicator %d is at %s of %zu elements of type %d, reduction %d, peer %d", op.comm->rank,
                op.comm->clique->id, nameOf(op.kind), op.count, op.type, op.reduction, op.peer);
}

static int cliqueCount = 0;

Clique::Clique(int size) : id(cliqueCount++), size(size), members(size), collectives(size) {}

void shim::post(const PostedPtr &posted) {
  const NcclOp &op = posted->op;
  Clique &clique = *op.comm->clique;
  int rank = op.comm->rank;
  if (op.kind == NcclKind::Send || op.kind == NcclKind::Recv) {
    bool isSend = op.kind == NcclKind::Send;
    auto key = isSend ? std::pair(rank, op.peer) : std::pair(op.peer, rank);
    (isSend ? clique.sends : clique.receives)[key].push_back(posted);
    match(clique.sends[key], clique.receives[key]);
  } else {
    clique.collectives[rank].push_back(posted);
    if (std::any_of(clique.collectives.begin(), clique.collectives.end(), [](auto &queue) { return queue.empty(); }))
      return;
    std::vector<NcclOp> ops;
    for (auto &queue : clique.collectives)
      ops.push_back(queue.front()->op);
    exchange(ops);
    for (auto &queue : clique.collectives) {
      queue.front()->done = true;
      queue.pop_front();
    }
  }
  queuesChanged.notify_all();
}
