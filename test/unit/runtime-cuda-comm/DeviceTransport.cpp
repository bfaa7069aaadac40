//===- DeviceTransport.cpp - operations on tensors of a device ------------===//

#include "DeviceTransport.h"

#include "base/Error.h"
#include "comm/ThreadsTransport.h"
#include "gpu/DeviceCollectives.h"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <functional>

using namespace braid;
using namespace braid::test;

std::shared_ptr<Rendezvous> RendezvousTable::of(const std::string &name, int ranks) {
  std::lock_guard lock(mutex);
  std::shared_ptr<Rendezvous> &rendezvous = byName[name];
  if (!rendezvous)
    rendezvous = std::make_shared<Rendezvous>(ranks);
  return rendezvous;
}

namespace {

void check(cudaError_t code, const char *what) {
  if (code != cudaSuccess)
    fail(what, ": ", cudaGetErrorString(code));
}

// A range of the host's memory with its place in the arena.
struct Range {
  std::byte *begin, *end;
  uint64_t at;
};

// The memory that an operation reads and writes, and its places in the arena. Overlapping ranges are merged; guard
// bytes behind each range must not change.
class Arena {
public:
  void add(const void *begin, int64_t bytes) {
    auto *first = static_cast<std::byte *>(const_cast<void *>(begin));
    if (bytes > 0)
      ranges.push_back({first, first + bytes, 0});
  }
  void layOut() {
    std::sort(ranges.begin(), ranges.end(), [](auto &a, auto &b) { return std::less<>()(a.begin, b.begin); });
    std::vector<Range> joined;
    for (const Range &range : ranges) {
      if (!joined.empty() && std::less<>()(range.begin, joined.back().end))
        joined.back().end = std::max(joined.back().end, range.end, std::less<>());
      else
        joined.push_back(range);
    }
    ranges = joined;
    for (Range &range : ranges) {
      range.at = bytes;
      bytes += (range.end - range.begin + guard + 255) / 256 * 256;
    }
    bytes = std::max<uint64_t>(bytes, 256);
  }
  uint64_t placeOf(const void *pointer) const {
    auto *at = static_cast<const std::byte *>(pointer);
    for (const Range &range : ranges)
      if (!std::less<>()(at, range.begin) && std::less<>()(at, range.end))
        return range.at + (at - range.begin);
    return 0; // of nothing
  }
  void copyIn(std::byte *arena) const {
    check(cudaMemset(arena, 0xA5, bytes), "cudaMemset");
    for (const Range &range : ranges)
      check(cudaMemcpy(arena + range.at, range.begin, range.end - range.begin, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  void copyOut(const std::byte *arena) const {
    std::vector<std::byte> host(bytes);
    check(cudaMemcpy(host.data(), arena, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Range &range = ranges[i];
      uint64_t size = range.end - range.begin, next = i + 1 < ranges.size() ? ranges[i + 1].at : bytes;
      std::copy_n(host.begin() + range.at, size, range.begin);
      for (uint64_t at = range.at + size; at < next; ++at)
        if (host[at] != std::byte{0xA5})
          fail("the device wrote past the end of a tensor");
    }
  }

  uint64_t bytes = 0;

private:
  static constexpr uint64_t guard = 64;
  std::vector<Range> ranges;
};

class DeviceTransport final : public Transport {
public:
  DeviceTransport(std::shared_ptr<RendezvousTable> table, int rank, int size)
      : table(std::move(table)), ownRank(rank), worldSize(size) {}

  int rank() const override { return ownRank; }
  int size() const override { return worldSize; }
  void run(const Operation &operation, Clock::time_point deadline, double seconds) override;
  void announceFailure(const std::string &) override {}

private:
  std::string nameOf(const Operation &op);

  const std::shared_ptr<RendezvousTable> table;
  const int ownRank, worldSize;
  std::map<std::string, int> counts;
};

// A transfer is an operation of two ranks.
std::string DeviceTransport::nameOf(const Operation &op) {
  bool sends = op.sends(op.group->me);
  int from = sends ? op.group->me : op.root(), to = sends ? op.root() : op.group->me;
  std::string name = concat(op.group->id, describe(*op.group), op.row().hasPeer() ? concat(" ", from, ">", to) : "");
  return concat(name, " #", counts[name]++);
}

Arena arenaOf(const Operation &op) {
  Arena arena;
  int64_t width = elementSize(op.dtype()), n = op.group->size();
  for (const br_segment &s : op.segments) {
    int64_t whole = s.count * width, block = (s.count + n - 1) / n * width;
    if (op.sends(op.group->me))
      arena.add(s.send, op.row().sent.form == Form::Block ? block : whole);
    if (op.receives(op.group->me))
      arena.add(s.recv, op.row().received.form == Form::Block ? block : whole);
  }
  arena.layOut();
  return arena;
}

// A model of one collective over all its ranks, where each has an arena of its own.
struct OneCollective {
  br_axis axis;
  br_group groups[2] = {{0, {}}, {1, {0}}};
  std::vector<int32_t> coordinates;
  std::vector<br_segment_desc> segments;
  br_collective_desc collective;
  br_model model{};

  OneCollective(const Operation &op, const Arena &arena, int size, int root) : axis{"r", size} {
    for (const br_segment &s : op.segments)
      segments.push_back({arena.placeOf(s.send), arena.placeOf(s.recv), s.count, s.send_rows, s.recv_rows, 0, 0});
    collective = {op.kind(),
                  op.reduction(),
                  op.dtype(),
                  1,
                  root,
                  op.pairs.data(),
                  static_cast<int32_t>(op.pairs.size() / 2),
                  segments.data(),
                  static_cast<int32_t>(segments.size())};
    model.name = "one collective";
    model.mesh = &axis;
    model.n_axes = 1;
    model.groups = groups;
    model.n_groups = 2;
    model.collectives = &collective;
    model.n_collectives = 1;
    model.arena_bytes = arena.bytes;
    for (int rank = 0; rank < size; ++rank)
      coordinates.push_back(rank);
    model.coordinates = coordinates.data();
    model.n_coordinates = size;
  }
};

void runOn(const br_model &model, const Rank &rank, std::byte *memory, int device) {
  Streams streams;
  std::unique_ptr<DeviceCollectives> collectives = makeDeviceCollectives(model, rank, {device, memory, streams, {}});
  GpuEvent end;
  bool good = collectives->start(0) == BR_OK && collectives->wait(0) == BR_OK && end.record(streams.compute).isGood() &&
              collectives->synchronize(end) == BR_OK;
  if (!good)
    fail(collectives->error());
}

void DeviceTransport::run(const Operation &op, Clock::time_point, double seconds) {
  int me = op.group->me, size = op.group->size(), root = op.root();
  if (op.row().hasPeer()) {
    me = op.group->me < op.root() ? 0 : 1;
    size = 2;
    root = 1 - me;
  }
  std::shared_ptr<Rendezvous> rendezvous = table->of(nameOf(op), size);
  const int device = table->transport == "nccl" ? ownRank : 0;
  check(cudaSetDevice(device), "cudaSetDevice");
  Arena arena = arenaOf(op);
  OneCollective model(op, arena, size, root);
  Joining joining;
  joining.rank = me;
  joining.size = size;
  joining.timeout = seconds;
  Bootstrap bootstrap(
      {table->transport, "threads", joining, rendezvous->notices, threadsTransport(rendezvous->hub, me)});
  Rank rank;
  rank.number = me;
  rank.size = size;
  rank.bootstrap = size > 1 ? &bootstrap : nullptr;
  std::byte *memory = nullptr;
  check(cudaMalloc(reinterpret_cast<void **>(&memory), arena.bytes), "cudaMalloc");
  arena.copyIn(memory);
  try {
    runOn(model.model, rank, memory, device);
  } catch (const Error &error) {
    bootstrap.publishNotice("failure", error.what());
    rendezvous->hub->fail(error.what());
    throw;
  }
  arena.copyOut(memory);
  check(cudaFree(memory), "cudaFree");
}

} // namespace

TransportFactory test::deviceTransport(std::shared_ptr<RendezvousTable> table, int rank, int size) {
  return [=] { return std::make_unique<DeviceTransport>(table, rank, size); };
}
