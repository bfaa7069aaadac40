//===- ClockOffset.cpp - one clock for the ranks of several hosts ---------===//

#include "core/ClockOffset.h"

#include "comm/GatherBlobs.h"

#include <fstream>
#include <limits>

using namespace braid;

static constexpr int kQuestions = 16;

static void send(br_comm &ranks, int to, double value) {
  br_segment segment = {&value, nullptr, 1, 1, 1};
  ranks.wait(ranks.start({BR_SEND, BR_SUM, BR_F64, 0, to, nullptr, 0, &segment, 1}));
}

static double receive(br_comm &ranks, int from) {
  double value = 0;
  br_segment segment = {nullptr, &value, 1, 1, 1};
  ranks.wait(ranks.start({BR_RECV, BR_SUM, BR_F64, 0, from, nullptr, 0, &segment, 1}));
  return value;
}

// On rank 0.
static double offsetOf(br_comm &ranks, int rank, const std::function<double()> &now) {
  double shortest = std::numeric_limits<double>::infinity(), offset = 0;
  for (int i = 0; i < kQuestions; ++i) {
    const double asked = now();
    send(ranks, rank, 0);
    const double theirs = receive(ranks, rank), answered = now();
    if (answered - asked < shortest) {
      shortest = answered - asked;
      offset = theirs - (asked + answered) / 2;
    }
  }
  return offset;
}

double braid::clockOffset(br_comm &ranks, const std::string &host, const std::function<double()> &now) {
  const std::vector<std::string> hosts = gatherBlobs(ranks, host);
  const int own = ranks.rank();
  if (own == 0) {
    for (int rank = 1; rank < ranks.size(); ++rank)
      if (hosts[rank] != hosts[0])
        send(ranks, rank, offsetOf(ranks, rank, now));
    return 0;
  }
  if (hosts[own] == hosts[0])
    return 0;
  for (int i = 0; i < kQuestions; ++i) {
    receive(ranks, 0);
    send(ranks, 0, now());
  }
  return receive(ranks, 0);
}

std::string braid::clockOfHost() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}
