//===- FailureBodies.cpp - ranks that do not do what others expect --------===//

#include "Bucket.h"

#include <csignal>

using namespace braid;
using namespace braid::test;

namespace {

// One f32 tensor, whose memory lives as long as the program.
br_operation over(br_collective kind, int64_t count, int root = 0) {
  static thread_local std::vector<float> send(4096), recv(4096);
  static thread_local br_segment segment;
  segment = {send.data(), recv.data(), count, 1, 1};
  return {kind, BR_SUM, BR_F32, 0, root, nullptr, 0, &segment, 1};
}

void runBarriers(Rank &rank, int count) {
  for (int i = 0; i < count; ++i)
    run(rank, over(BR_BARRIER, 0));
}

} // namespace

// Rank 0 issues another operation than the others.
BRAID_BODY(otherCollective) {
  runBarriers(rank, 2);
  run(rank, rank.me == 0 ? over(BR_BARRIER, 0) : over(BR_ALL_REDUCE, 4096));
}

BRAID_BODY(otherCount) { run(rank, over(BR_ALL_GATHER, rank.me == 0 ? 64 : 128)); }

BRAID_BODY(otherType) {
  br_operation operation = over(BR_ALL_REDUCE, 64);
  operation.dtype = rank.me == 0 ? BR_I32 : BR_F32;
  run(rank, operation);
}

BRAID_BODY(otherReduction) {
  br_operation operation = over(BR_REDUCE_SCATTER, 64);
  operation.reduction = rank.me == 0 ? BR_MAX : BR_SUM;
  run(rank, operation);
}

BRAID_BODY(otherRoot) { run(rank, over(BR_BROADCAST, 64, rank.me == 0 ? 1 : 0)); }

BRAID_BODY(bothReceive) {
  if (rank.me < 2)
    run(rank, over(BR_RECV, 64, 1 - rank.me));
  else
    run(rank, over(BR_BARRIER, 0));
}

// Rank 0 ends early, without an error.
BRAID_BODY(oneEnds) {
  runBarriers(rank, 1);
  if (rank.me != 0)
    run(rank, over(BR_ALL_REDUCE, 4096));
}

// To the other ranks, rank 0 seems to compute forever.
BRAID_BODY(oneNeverComes) {
  runBarriers(rank, 1);
  if (rank.me == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  run(rank, over(BR_ALL_REDUCE, 4096));
}

// Each rank waits in a group that the other has not reached yet.
BRAID_BODY(crossedGroups) {
  int first = makeGroup(rank, {0, 1}), second = makeGroup(rank, {1, 0});
  br_operation operation = over(BR_ALL_REDUCE, 4096);
  operation.group = rank.me == 0 ? first : second;
  run(rank, operation);
}

BRAID_BODY(oneIsKilled) {
  runBarriers(rank, 1);
  if (rank.me == 0)
    raise(SIGKILL);
  run(rank, over(BR_ALL_REDUCE, 4096));
}

// Operations after a failure fail, too, with the original reason.
BRAID_BODY(afterFailure) {
  std::string first;
  try {
    run(rank, rank.me == 0 ? over(BR_BARRIER, 0) : over(BR_ALL_REDUCE, 4096));
  } catch (const Error &error) {
    first = error.what();
  }
  try {
    run(rank, over(BR_BARRIER, 0));
  } catch (const Error &error) {
    rank.report = error.what();
    require(rank.report == first, "the second error is '", error.what(), "', the first was '", first, "'");
    return;
  }
  fail("an operation after a failure did not fail");
}
