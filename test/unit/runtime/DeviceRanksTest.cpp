//===- DeviceRanksTest.cpp - ranks of programs on devices -----------------===//
//
// Tests the choice of the transport, and the communication of ranks before NCCL runs. Needs no device.
//
//===----------------------------------------------------------------------===//

#include "RanksModel.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "comm/ThreadsTransport.h"
#include "launch/Ranks.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace braid;
using namespace braid::test;

namespace {

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Launch launched(Launcher launcher, const std::string &rendezvous) {
  Launch launch;
  launch.launcher = launcher, launch.rank = 1, launch.size = 4;
  launch.localRank = 1, launch.localSize = 2;
  launch.rendezvous = rendezvous;
  return launch;
}

br_model deviceModel() {
  br_model model = ranksModel({{"dp", 2}, {"tp", 2}});
  model.target = "cuda:sm_90";
  return model;
}

RankPlan planFor(const std::string &transport, const Launch &launch, const std::string &rendezvous = "") {
  RankOptions options;
  options.transport = transport;
  options.rendezvous = rendezvous;
  return planRanks(deviceModel(), options, launch);
}

template <class F> std::string errorOf(const F &f) {
  try {
    f();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(DeviceRanks, areThreadsIfNobodyHasStartedProcesses) {
  for (const char *transport : {"", "nccl", "device-threads"}) {
    RankPlan plan = planFor(transport, {});
    EXPECT_EQ(plan.transport, *transport ? transport : "auto");
    EXPECT_EQ(plan.ranksHere, 4);
    EXPECT_EQ(plan.host, "threads");
  }
}

TEST(DeviceRanks, areProcessesThatMeetWhereTheLauncherSays) {
  RankPlan plan = planFor("", launched(Launcher::Torchrun, "agent://host:1"));
  EXPECT_EQ(plan.transport, "auto");
  EXPECT_EQ(plan.ranksHere, 1);
  EXPECT_EQ(plan.first, 1);
  EXPECT_EQ(plan.share.rank, 1);
  EXPECT_EQ(plan.rendezvous, "agent://host:1");
  EXPECT_EQ(plan.host, ""); // this binary has no gloo to fall back to
  EXPECT_EQ(planFor("nccl", launched(Launcher::OpenMpi, ""), "file:///tmp/x").rendezvous, "file:///tmp/x");
}

TEST(DeviceRanks, needARendezvous) {
  EXPECT_EQ(errorOf([] { planFor("nccl", launched(Launcher::OpenMpi, "")); }),
            "--transport=nccl needs a rendezvous: set MASTER_ADDR and MASTER_PORT to a host and a "
            "free port of rank 0, or give --rendezvous=file:///FOLDER, a folder that all ranks see");
  EXPECT_NE(
      errorOf([] { planFor("", launched(Launcher::Torchrun, ""), "nowhere"); }).find("invalid rendezvous 'nowhere'"),
      std::string::npos);
}

TEST(DeviceRanks, ofSeveralHostsNeedAToken) {
  ScratchDirectory folder;
  Launch launch = launched(Launcher::Torchrun, "tcp://host:1");
  RankOptions options;
  auto refusal = [&] { return errorOf([&] { planRanks(deviceModel(), options, launch); }); };
  auto plan = [&] { return planRanks(deviceModel(), options, launch); };
  EXPECT_NE(refusal().find("rendezvous 'tcp://host:1' is reached from other hosts and needs a job token"),
            std::string::npos);
  launch.token = "from the environment";
  EXPECT_EQ(plan().token, "from the environment");
  EXPECT_FALSE(plan().isOneHost);
  options.tokenFile = writeFile(folder / "token", "the first line of a file\nanother\n");
  EXPECT_NE(refusal().find("other users can read the token"), std::string::npos);
  std::filesystem::permissions(options.tokenFile, std::filesystem::perms(0600));
  EXPECT_EQ(plan().token, "the first line of a file");
  options.tokenFile = folder / "none";
  EXPECT_NE(refusal().find("cannot read a job token"), std::string::npos);
  options.tokenFile = "";
  launch.token = "";
  launch.localSize = 4;
  EXPECT_TRUE(plan().isOneHost);
  options.transport = "device-threads";
  options.tokenFile = "x";
  EXPECT_NE(refusal().find("--token-file=x is for ranks of shm, gloo and nccl"), std::string::npos);
}

TEST(DeviceRanks, needALauncherForProcesses) {
  EXPECT_NE(errorOf([] { planFor("gloo", {}); }).find("no launcher was found"), std::string::npos);
}

TEST(DeviceRanks, chooseADeviceOnlyWhereThatMeansOne) {
  RankOptions options;
  options.device = 1;
  EXPECT_NE(errorOf([&] { planRanks(deviceModel(), options, {}); }).find("choose --transport=device-threads"),
            std::string::npos);
  options.transport = "device-threads";
  EXPECT_EQ(planRanks(deviceModel(), options, {}).ranksHere, 4);
}

//===----------------------------------------------------------------------===//
// Blobs and notices
//===----------------------------------------------------------------------===//

// Runs f on every rank with its bootstrap. Returns the first error of any rank.
template <class F> std::string onRanks(int n, const std::function<BootstrapOptions(int)> &options, const F &f) {
  std::vector<std::string> errors(n);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back([&, rank] {
      errors[rank] = errorOf([&] {
        Bootstrap bootstrap(options(rank));
        f(bootstrap, rank);
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return error;
  return "";
}

BootstrapOptions overStore(const std::string &place, int rank, int size, double timeout = 20) {
  BootstrapOptions options;
  options.wanted = "nccl";
  options.joining.rank = rank;
  options.joining.size = size;
  options.joining.timeout = timeout;
  options.joining.rendezvous = place;
  return options;
}

void gatherTwice(Bootstrap &bootstrap, int rank) {
  for (int turn = 0; turn < 2; ++turn) {
    std::string own(rank * 3, static_cast<char>('a' + turn));
    std::vector<std::string> all = bootstrap.allGatherBlobs(own);
    for (size_t other = 0; other < all.size(); ++other)
      if (all[other] != std::string(other * 3, static_cast<char>('a' + turn)))
        fail("rank ", rank, " received '", all[other], "' from ", other);
  }
}

TEST(Bootstrap, gathersBlobsOverAFolder) {
  ScratchDirectory folder;
  EXPECT_EQ(onRanks(3, [&](int rank) { return overStore("file://" + (folder / "store"), rank, 3); }, gatherTwice), "");
}

TEST(Bootstrap, gathersBlobsInTheMemoryOfAProcess) {
  auto hub = std::make_shared<ThreadsHub>(4);
  auto notices = std::make_shared<NoticeStore>();
  auto options = [&](int rank) {
    BootstrapOptions own = overStore("", rank, 4);
    own.notices = notices;
    own.threads = threadsTransport(hub, rank);
    return own;
  };
  EXPECT_EQ(onRanks(4, options, gatherTwice), "");
}

TEST(Bootstrap, namesARankThatDoesNotJoin) {
  ScratchDirectory folder;
  Bootstrap bootstrap(overStore("file://" + (folder / "store"), 0, 2, 0.3));
  EXPECT_NE(errorOf([&] { bootstrap.allGatherBlobs("here"); }).find(" within 0.3 s: rank 1 has not joined"),
            std::string::npos);
  Bootstrap other(overStore("file://" + (folder / "elsewhere"), 1, 2, 0.3));
  EXPECT_EQ(errorOf([&] { other.allGatherBlobs("here"); }), "rank 1 of 2 failed to rendezvous at 'file://" +
                                                                (folder / "elsewhere") +
                                                                "' within 0.3 s: rank 0 has not joined");
}

TEST(Bootstrap, gathersAgainWhereItHasBefore) {
  ScratchDirectory folder;
  std::string place = "file://" + (folder / "store");
  auto options = [&](int rank) { return overStore(place, rank, 2, 2); };
  EXPECT_EQ(onRanks(2, options, gatherTwice), "");
  EXPECT_EQ(onRanks(2, options, gatherTwice), "");
}

TEST(Bootstrap, endsAStartOfRanksThatDiffer) {
  ScratchDirectory folder;
  auto options = [&](int rank) { return overStore("file://" + (folder / "store"), rank, 3); };
  auto start = [](const char *other) {
    return [other](Bootstrap &bootstrap, int rank) { bootstrap.agreeToStart({{"--lr", rank == 1 ? other : "1"}}); };
  };
  EXPECT_EQ(onRanks(3, options, start("1")), "");
  EXPECT_EQ(onRanks(3, options, start("2")), "ranks were started differently: --lr is 1 on ranks 0, 2 and 2 on rank 1; "
                                             "start all of them with the same binary, data and options");
}

// For any rank, and with any delay of the others.
TEST(Bootstrap, endsAStartThatARankRefuses) {
  for (int refusing : {0, 2}) {
    ScratchDirectory folder;
    std::atomic<int> told = 0;
    auto options = [&](int rank) { return overStore("file://" + (folder / "store"), rank, 3); };
    std::string error = onRanks(3, options, [&](Bootstrap &bootstrap, int rank) {
      if (rank == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
      if (rank == refusing)
        return bootstrap.refuseToStart("no more paper");
      EXPECT_EQ(errorOf([&] { bootstrap.agreeToStart({}); }),
                concat("rank ", refusing, " cannot start: no more paper"));
      ++told;
    });
    EXPECT_EQ(error, "");
    EXPECT_EQ(told, 2);
  }
}

TEST(Bootstrap, endsWaitsWithTheReasonOfAFailure) {
  ScratchDirectory folder;
  auto options = [&](int rank) { return overStore("file://" + (folder / "store"), rank, 2); };
  std::string error = onRanks(2, options, [](Bootstrap &bootstrap, int rank) {
    bootstrap.allGatherBlobs("");
    if (rank == 1)
      return bootstrap.publishNotice("failure", "rank 1: the disk is full");
    bootstrap.allGatherBlobs("");
  });
  EXPECT_EQ(error, "rank 1: the disk is full");
}

} // namespace
