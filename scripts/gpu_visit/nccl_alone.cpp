// NCCL with one rank on one GPU, through the classes of training programs: non-blocking communicators with a limit of
// CTAs, one of them split off; an arena of ncclMemAlloc that is registered; each collective on the communication
// stream, directly and in a CUDA graph that forks over events.
//   nccl_alone COUNT
// prints a line after each success, and ends at the first failure, with the reason.
#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "comm/ThreadsTransport.h"
#include "comm/transports.h"
#include "cuda/Check.h"
#include "gpu/Device.h"
#include "gpu/StepGraph.h"
#include "gpu/StreamCollectives.h"

#include <cstdio>
#include <cstdlib>
#include <nccl.h>

using namespace braid;

namespace {

constexpr int32_t ctas = 8;

template <class... Words> void say(const Words &...words) {
  std::printf("ok %s\n", concat(words...).c_str());
  std::fflush(stdout);
}

struct Kind {
  const char *name;
  br_collective kind;
  br_reduction reduction = BR_SUM;
  br_dtype dtype = BR_F32;
};
// With one rank, each collective copies its operand, including sums; the permutation sends to itself.
constexpr Kind kinds[] = {{"all_reduce", BR_ALL_REDUCE},
                          {"all_reduce_max", BR_ALL_REDUCE, BR_MAX},
                          {"all_reduce_mean", BR_ALL_REDUCE, BR_MEAN},
                          {"reduce_scatter", BR_REDUCE_SCATTER},
                          {"all_gather", BR_ALL_GATHER},
                          {"all_gather_bf16", BR_ALL_GATHER, BR_SUM, BR_BF16},
                          {"reduce", BR_REDUCE},
                          {"broadcast", BR_BROADCAST},
                          {"send_recv", BR_PERMUTE}};
constexpr int32_t numKinds = std::size(kinds);
// The groups of a mesh with one rank: all ranks, served by the first communicator, and the only axis, served by a
// communicator that is split off.
constexpr int32_t numGroups = 2;

// A model without programs: its arena holds the operands of collectives, their results, and a copy of the results.
struct Tables {
  explicit Tables(int64_t count) : bytes((count * sizeof(float) + 255) / 256 * 256) {
    for (int32_t i = 0; i < numKinds; ++i) {
      const int64_t elements = kinds[i].dtype == BR_BF16 ? 2 * count : count;
      segments[i] = {0, bytes, elements, 1, 1, 0, 0};
      for (int32_t group = 0; group < numGroups; ++group)
        collectives[i * numGroups + group] = {
            kinds[i].kind, kinds[i].reduction, kinds[i].dtype, group, 0, toItself, 1, &segments[i], 1};
    }
    model.abi_version = BR_ABI_VERSION;
    model.name = "nccl_alone";
    model.mesh = &axis, model.n_axes = 1;
    model.groups = groups, model.n_groups = numGroups;
    model.collectives = collectives, model.n_collectives = std::size(collectives);
    model.comm_ctas = ctas;
    model.arena_bytes = 3 * bytes;
  }

  const uint64_t bytes; // of each of the three
  br_axis axis = {"ranks", 1};
  br_group groups[numGroups] = {{0, {}}, {1, {0}}};
  int32_t toItself[2] = {0, 0};
  br_segment_desc segments[numKinds];
  br_collective_desc collectives[numKinds * numGroups];
  br_model model = {};
};

class Check {
public:
  Check(const Tables &tables, int64_t count, Rank rank)
      : tables(tables), device(enterDevice(rank)),
        arena(device, tables.model.arena_bytes, streams.compute, arenaAllocator(tables.model, rank)), values(count) {
    say("memory: ", arena.describeAllocator());
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % 1021) - 510;
    streams.compute.copyToDevice(arena.data(), values.data(), count * sizeof(float)).check();
    DevicePlace place = {device.number, arena.data(), streams};
    place.failed = [this](const std::string &reason) { failure = reason; };
    place.communicatesAlone = true;
    collectives = makeDeviceCollectives(tables.model, rank, place);
    say("init");
    if (!dynamic_cast<const StreamCollectives &>(*collectives).hasRegistered())
      fail("NCCL does not register the arena");
    say("register");
  }

  void run(int32_t index) {
    const std::string name =
        concat(kinds[index / numGroups].name, index % numGroups ? " of a communicator that was split off" : "");
    StepGraph graph;
    for (const char *how : {"", " captured", " replayed"}) { // as the first three steps of a program
      const br_status status = graph.run(
          streams.compute, [&] { return launch(index); },
          [&](const GpuGraph &ready) { return ready.launch(streams.compute); }, errors);
      checkStatus(name, status);
      compare(name);
      say(name, how);
    }
  }

  // NCCL ends only after all graphs with its collectives are gone.
  void finish() {
    collectives.reset();
    if (!failure.empty())
      fail(failure);
    say("finalize");
  }

private:
  // The collective runs after the work on the compute stream, and before the work that follows its wait.
  br_status launch(int32_t index) {
    std::byte *to = arena.data() + tables.bytes, *copy = to + tables.bytes;
    errors.note(streams.compute.fillZeros(to, tables.bytes));
    if (collectives->start(index) != BR_OK || collectives->wait(index) != BR_OK)
      return BR_ERROR;
    errors.note(streams.compute.copyOnDevice(copy, to, tables.bytes));
    return BR_OK;
  }

  void checkStatus(const std::string &name, br_status status) {
    GpuEvent end;
    if (status == BR_OK && !errors.any())
      end.record(streams.compute).check();
    if (status != BR_OK || errors.any() || collectives->synchronize(end) != BR_OK)
      fail(name, ": ", errors.any() ? errors.text().c_str() : collectives->error());
  }

  // The copy made after the collective; the next run overwrites it.
  void compare(const std::string &name) {
    std::vector<float> found(values.size());
    std::byte *copy = arena.data() + 2 * tables.bytes;
    streams.compute.copyToHost(found.data(), copy, found.size() * sizeof(float)).check();
    streams.compute.fillZeros(copy, tables.bytes).check();
    streams.compute.synchronize().check();
    for (size_t i = 0; i < values.size(); ++i)
      if (found[i] != values[i])
        fail(name, ": element ", i, " is ", found[i], " and must be ", values[i]);
  }

  const Tables &tables;
  std::string failure;
  ProgramErrors errors;
  Device device;
  Streams streams;
  DeviceArena arena;
  std::vector<float> values;
  std::unique_ptr<DeviceCollectives> collectives;
};

void check(int64_t count) {
  int version;
  checkCuda(cudaFree(nullptr), "the first call of CUDA");
  if (ncclGetVersion(&version) != ncclSuccess)
    fail("ncclGetVersion failed");
  std::printf("NCCL %d\n", version);
  br_use_nccl();
  Joining joining;
  joining.rank = 0, joining.size = 1, joining.timeout = 30;
  Bootstrap bootstrap({"nccl", "threads", joining, std::make_shared<NoticeStore>(),
                       threadsTransport(std::make_shared<ThreadsHub>(1), 0)});
  Rank rank;
  rank.bootstrap = &bootstrap;
  rank.graphs = true;
  const Tables tables(count);
  Check all(tables, count, rank);
  for (int32_t i = 0; i < tables.model.n_collectives; ++i)
    all.run(i);
  all.finish();
}

} // namespace

int main(int argc, char **argv) {
  const long long count = argc == 2 ? std::atoll(argv[1]) : 0;
  if (count <= 0) {
    std::fprintf(stderr, "usage: nccl_alone COUNT\n");
    return 2;
  }
  try {
    check(count);
    return 0;
  } catch (const Error &error) {
    std::fprintf(stderr, "nccl_alone: %s\n", error.what());
    return 1;
  }
}
