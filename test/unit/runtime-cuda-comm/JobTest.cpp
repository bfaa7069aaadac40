//===- JobTest.cpp - ranks on devices that start, fail and end ------------===//
//
// Ranks are threads of this process with devices of the shim.  Their model has an
// all_reduce of 4 numbers and a barrier.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "comm/ThreadsTransport.h"
#include "comm/transports.h"
#include "cuda/Check.h"
#include "gpu/DeviceCollectives.h"
#include "gpu/Graph.h"

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <nccl.h>
#include <thread>

using namespace braid;

namespace {

constexpr int32_t sum = 0, barrier = 1;

struct Tables {
  br_axis axis;
  br_group groups[2] = {{0, {}}, {1, {0}}};
  br_segment_desc segment = {0, 256, 4, 1, 1, 0, 0};
  br_collective_desc collectives[2];
  br_model model{};

  explicit Tables(int ranks)
      : axis{"dp", ranks}, collectives{{BR_ALL_REDUCE, BR_SUM, BR_F32, 1, 0, nullptr, 0, &segment, 1},
                                       {BR_BARRIER, BR_SUM, BR_F32, 1, 0, nullptr, 0, nullptr, 0}} {
    model.name = "job";
    model.mesh = &axis;
    model.n_axes = 1;
    model.groups = groups;
    model.n_groups = 2;
    model.collectives = collectives;
    model.n_collectives = 2;
    model.arena_bytes = 512;
  }
};

// One rank, after its collectives exist.
struct Member {
  int rank, size;
  Streams &streams;
  std::byte *arena;
  DeviceCollectives &collectives;

  void write(float x) const {
    float values[4] = {x, 2 * x, 3 * x, 4 * x};
    checkCuda(cudaMemcpy(arena, values, sizeof values, cudaMemcpyHostToDevice), "cudaMemcpy");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  float read() const {
    float values[4];
    checkCuda(cudaMemcpy(values, arena + 256, sizeof values, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values[3];
  }
  void run(int32_t index) const {
    if (collectives.start(index) != BR_OK || collectives.wait(index) != BR_OK)
      throw RankError(collectives.error());
  }
  void synchronize() const {
    GpuEvent end;
    end.record(streams.compute).check();
    if (collectives.synchronize(end) != BR_OK)
      throw RankError(collectives.error());
  }
  // The sum over ranks of 4 * (rank + 1).
  void checkSum() const {
    write(static_cast<float>(rank + 1));
    run(sum);
    synchronize();
    if (float got = read(); got != 2.0f * size * (size + 1))
      fail("the sum is ", got);
  }
};

struct Job {
  std::string transport = "nccl";
  double timeout = 20;
  bool share = false;                             // the first device
  std::function<void(Tables &, int)> change = {}; // of a rank's tables
  std::function<void(Rank &)> configure = {};     // of a rank's options
};

std::string runRank(const Job &job, Bootstrap &bootstrap, int rank, int size,
                    const std::function<void(Member &)> &body) {
  std::byte *arena = nullptr;
  try {
    const int device = job.share ? 0 : rank;
    checkCuda(cudaSetDevice(device), "cudaSetDevice");
    checkCuda(cudaMalloc(reinterpret_cast<void **>(&arena), 512), "cudaMalloc");
    Tables tables(size);
    if (job.change)
      job.change(tables, rank);
    Streams streams;
    Rank own;
    own.number = rank, own.size = size, own.bootstrap = &bootstrap;
    if (job.configure)
      job.configure(own);
    auto collectives = makeDeviceCollectives(tables.model, own, {device, arena, streams, [] { return "step, loss"; }});
    Member member{rank, size, streams, arena, *collectives};
    body(member);
    return "";
  } catch (const std::exception &error) {
    bootstrap.publishNotice("failure", error.what());
    return error.what();
  }
}

// Returns the error of each rank.
std::vector<std::string> runJob(const Job &job, int ranks, const std::function<void(Member &)> &body) {
  auto hub = std::make_shared<ThreadsHub>(ranks);
  auto notices = std::make_shared<NoticeStore>();
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Joining joining;
      joining.rank = rank, joining.size = ranks, joining.timeout = job.timeout;
      Bootstrap bootstrap({job.transport, "threads", joining, notices, threadsTransport(hub, rank)});
      errors[rank] = runRank(job, bootstrap, rank, ranks, body);
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

class Jobs : public testing::Test {
protected:
  static void SetUpTestSuite() {
    br_use_nccl();
    setenv("BRAID_SHIM_DEVICES", "4", 1);
  }
  static void expectAll(const std::vector<std::string> &errors, const std::string &part) {
    for (size_t rank = 0; rank < errors.size(); ++rank)
      EXPECT_NE(errors[rank].find(part), std::string::npos) << "rank " << rank << ": '" << errors[rank] << "'";
  }
  static void expectGood(const std::vector<std::string> &errors) {
    for (size_t rank = 0; rank < errors.size(); ++rank)
      EXPECT_EQ(errors[rank], "") << "rank " << rank;
  }
};

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

TEST_F(Jobs, runOverNcclIfTheyCan) {
  for (const char *transport : {"nccl", "auto"})
    expectGood(runJob({transport}, 3, [](Member &m) {
      EXPECT_STREQ(m.collectives.name(), "nccl");
      EXPECT_TRUE(m.collectives.canBeCaptured());
      EXPECT_TRUE(m.collectives.warnings().empty());
      for (int step = 0; step < 5; ++step) {
        m.checkSum();
        m.run(barrier);
      }
    }));
}

TEST_F(Jobs, runThroughTheHostOnOneDevice) {
  expectGood(runJob({"device-threads", 20, /*share=*/true}, 3, [](Member &m) {
    EXPECT_STREQ(m.collectives.name(), "device-threads");
    EXPECT_FALSE(m.collectives.canBeCaptured());
    m.checkSum();
    m.run(barrier);
  }));
}

TEST_F(Jobs, refuseNcclOnOneDevice) {
  expectAll(runJob({"nccl", 20, /*share=*/true}, 2, [](Member &) {}),
            "--transport=nccl cannot start: ranks 0 and 1 use the "
            "same GPU (");
  expectAll(runJob({"nccl", 20, /*share=*/true}, 2, [](Member &) {}), "--transport=device-threads");
}

TEST_F(Jobs, goThroughTheHostIfNcclCannotStart) {
  expectGood(runJob({"auto", 20, /*share=*/true}, 2, [](Member &m) {
    EXPECT_STREQ(m.collectives.name(), "device-threads");
    ASSERT_EQ(m.collectives.warnings().size(), 1u);
    EXPECT_NE(m.collectives.warnings()[0].find("nccl cannot start: ranks 0 and 1 use the same GPU"), std::string::npos);
    m.checkSum();
  }));
}

// The library takes 1 to 32.
TEST_F(Jobs, haveTheCtasOfTheirProgram) {
  Job job;
  job.change = [](Tables &tables, int) { tables.model.comm_ctas = 32; };
  expectGood(runJob(job, 2, [](Member &m) { m.checkSum(); }));
  job.change = [](Tables &tables, int) { tables.model.comm_ctas = 33; };
  expectAll(runJob(job, 2, [](Member &) {}), "number of CTAs");
}

TEST_F(Jobs, areOfOneProgram) {
  Job job;
  job.change = [](Tables &tables, int rank) { tables.collectives[1].kind = rank == 1 ? BR_ALL_REDUCE : BR_BARRIER; };
  expectAll(runJob(job, 2, [](Member &) {}), "rank 1 runs a different program from rank 0");
}

// NCCL requires a collective to be in a graph on all ranks or on none.
TEST_F(Jobs, captureTheirProgramsOnAllRanksOrOnNone) {
  Job job;
  job.configure = [](Rank &rank) { rank.graphs = rank.number == 1; };
  expectAll(
      runJob(job, 2, [](Member &) {}),
      "rank 1 captures its programs in CUDA graphs, but rank 0 launches them; NCCL needs the same on all ranks: start "
      "them with the same --cuda-graph, --profile and --trace");
  job.configure = [](Rank &rank) {
    if (rank.number == 0) // which is what ranks of one process do unless told
      rank.graphs = false;
  };
  expectGood(runJob(job, 2, [](Member &m) { m.checkSum(); }));
}

// A library whose calls cannot continue before the rank has polled them.
TEST(NcclOfTheShim, putsGroupsOnStreamsWhenAsked) {
  ncclUniqueId id;
  ncclComm_t comm;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  float *memory = nullptr, values[2] = {3, 0};
  checkCuda(cudaSetDevice(0), "cudaSetDevice");
  checkCuda(cudaMalloc(reinterpret_cast<void **>(&memory), sizeof values), "cudaMalloc");
  checkCuda(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice), "cudaMemcpy");
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess);
  GpuStream stream;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ASSERT_EQ(ncclAllReduce(memory, memory + 1, 1, ncclFloat32, ncclSum, comm, stream.native()), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
  EXPECT_EQ(ncclAllReduce(memory, memory + 1, 1, ncclFloat32, ncclSum, comm, stream.native()), ncclInvalidUsage);
  const ncclResult_t states[] = {ncclInProgress, ncclSuccess};
  for (int turn = 0; turn < 2; ++turn) {
    ncclResult_t state;
    ASSERT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
    EXPECT_EQ(state, states[turn]);
    stream.synchronize().check();
    checkCuda(cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost), "cudaMemcpy");
    EXPECT_EQ(values[1], turn == 0 ? 0 : 3);
  }
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

// Failures are set before the process starts, so each test has its own process.
class JobsWithFailures : public Jobs {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  [[noreturn]] static void report(const std::string &failures, const Job &job,
                                  const std::function<void(Member &)> &body) {
    setenv("BRAID_SHIM_FAIL", failures.c_str(), 1);
    for (const std::string &error : runJob(job, 2, body))
      std::fprintf(stderr, "error '%s'\n", error.c_str());
    std::_Exit(0);
  }
};

TEST_F(JobsWithFailures, agreeThatNcclCannotStart) {
  EXPECT_EXIT(report("ncclCommInitRankConfig:1:ncclSystemError:1", {"nccl"}, [](Member &) {}),
              testing::ExitedWithCode(0),
              "error '--transport=nccl cannot start: rank 1: ncclCommInitRankConfig failed: .*\n"
              "error '--transport=nccl cannot start: rank 1: ncclCommInitRankConfig failed");
  EXPECT_EXIT(report("ncclCommInitRankConfig:1:ncclSystemError:1", {"auto"},
                     [](Member &m) {
                       m.checkSum();
                       fail(m.collectives.name(), ", ", m.collectives.warnings()[0]);
                     }),
              testing::ExitedWithCode(0),
              "error 'device-threads, nccl cannot start: rank 1: .*slower'\nerror 'device-threads, nccl cannot start");
}

TEST_F(JobsWithFailures, registerMemoryOnAllRanksOrOnNone) {
  EXPECT_EXIT(report("ncclCommRegister:1:ncclSystemError:1", {"nccl"}, [](Member &m) { m.checkSum(); }),
              testing::ExitedWithCode(0), "error ''\nerror ''");
}

TEST_F(JobsWithFailures, endAllIfACallFails) {
  EXPECT_EXIT(report("ncclAllReduce:1:ncclInternalError:1", {"nccl"}, [](Member &m) { m.checkSum(); }),
              testing::ExitedWithCode(0),
              "rank 1: all_reduce #0 \\(sum, f32, 4 elements\\) over \\{0, 1\\}, 'step, loss': ncclAllReduce failed.*\n"
              "error 'rank 1: all_reduce #0");
}

// The number of polls before the job has started depends on the machine.
TEST_F(JobsWithFailures, endAllIfNcclReportsAnError) {
  EXPECT_EXIT(report("ncclCommGetAsyncError:20:ncclRemoteError:1", {"nccl"},
                     [](Member &m) {
                       if (m.rank == 0)
                         std::this_thread::sleep_for(std::chrono::seconds(3));
                       m.checkSum();
                     }),
              testing::ExitedWithCode(0), "error '.*rank 1: .*failed: .*\nerror '.*rank 1: ");
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

double secondsOf(const std::function<void()> &f) {
  Clock::time_point begin = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST_F(Jobs, endTogetherWhenARankDies) {
  for (const char *transport : {"nccl", "device-threads"}) {
    double seconds = secondsOf([&] {
      std::vector<std::string> errors = runJob({transport}, 3, [](Member &m) {
        m.run(barrier);
        m.synchronize();
        if (m.rank == 1)
          fail("the disk of rank 1 is full");
        m.checkSum();
      });
      EXPECT_EQ(errors[1], "the disk of rank 1 is full");
      errors.erase(errors.begin() + 1);
      expectAll(errors, std::string(transport) == "nccl" ? "the disk of rank 1 is full" : "rank 1 has ended");
    });
    EXPECT_LT(seconds, 10) << transport;
  }
}

TEST_F(Jobs, endWhenARankDoesNotCome) {
  Job job{"nccl", 0.5};
  std::vector<std::string> errors = runJob(job, 3, [](Member &m) {
    m.run(barrier);
    m.synchronize();
    if (m.rank == 0)
      std::this_thread::sleep_for(std::chrono::seconds(2));
    m.checkSum();
  });
  expectAll(errors, "after 0.5 s rank ");
  expectAll(errors, " waits for all_reduce #0 (sum, f32, 4 elements) over {0, 1, 2}, 'step, loss'");
}

// The host starts the next step before the device has finished this one.
TEST_F(Jobs, tellWhichCollectiveIsLateAStepAhead) {
  std::vector<std::string> errors = runJob({"nccl", 0.5}, 2, [](Member &m) {
    m.write(1);
    m.run(sum);
    if (m.rank == 1)
      std::this_thread::sleep_for(std::chrono::seconds(2));
    m.run(barrier);
    m.run(sum);
    m.run(barrier);
    m.synchronize();
  });
  expectAll(errors, "after 0.5 s rank 0 waits for barrier #1 over {0, 1}, 'step, loss'");
}

TEST_F(Jobs, leaveNoErrorBehindAWait) {
  expectGood(runJob({"nccl"}, 2, [](Member &m) {
    if (m.rank == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    m.checkSum();
    checkCuda(cudaGetLastError(), "a wait");
  }));
}

// Ended events are reused, whether or not the watching thread has seen them.
TEST_F(JobsWithFailures, takeEventsOfFewSteps) {
  EXPECT_EXIT(report("cudaEventCreate:600:cudaErrorMemoryAllocation", {"nccl"},
                     [](Member &m) {
                       m.write(1);
                       for (int step = 0; step < 500; ++step) {
                         m.run(sum);
                         m.run(barrier);
                         if (step % 4 == 3) // which takes one more
                           m.synchronize();
                       }
                     }),
              testing::ExitedWithCode(0), "error ''\nerror ''");
}

TEST_F(Jobs, stayFailed) {
  expectAll(runJob({"nccl", 0.5}, 2,
                   [](Member &m) {
                     if (m.rank == 0)
                       std::this_thread::sleep_for(std::chrono::seconds(2));
                     std::string first;
                     try {
                       m.checkSum();
                     } catch (const Error &error) {
                       first = error.what();
                     }
                     if (m.collectives.start(barrier) == BR_OK)
                       fail("a start after a failure did not fail");
                     fail(first == m.collectives.error() ? "as before" : m.collectives.error());
                   }),
            "as before");
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST_F(Jobs, mayBeCapturedInAGraph) {
  expectGood(runJob({"nccl"}, 2, [](Member &m) {
    m.checkSum(); // outside, before and after
    GpuGraph graph;
    graph.begin(m.streams.compute).check();
    m.run(sum);
    graph.end(m.streams.compute, /*keeps=*/true).check();
    for (int turn = 1; turn < 4; ++turn) {
      m.write(static_cast<float>(turn * (m.rank + 1)));
      graph.launch(m.streams.compute).check();
      m.synchronize();
      EXPECT_EQ(m.read(), turn * 12.0f);
    }
    m.checkSum();
  }));
}

// The graph is destroyed before the communicators, which can be aborted only when no graph contains them.
TEST_F(Jobs, endWhenARankDoesNotLaunchItsGraph) {
  std::vector<std::string> errors = runJob({"nccl", 0.5}, 2, [](Member &m) {
    GpuGraph graph;
    m.write(1);
    graph.begin(m.streams.compute).check();
    m.run(sum);
    graph.end(m.streams.compute, /*keeps=*/true).check();
    if (m.rank == 0)
      std::this_thread::sleep_for(std::chrono::seconds(2));
    graph.launch(m.streams.compute).check();
    m.synchronize();
  });
  expectAll(errors, "after 0.5 s rank 1 waits for a CUDA graph with collectives");
}

} // namespace
