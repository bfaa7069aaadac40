//===- MatmulSearch.cpp - search for the fastest GEMM algorithm -----------===//

#include "gpu/MatmulSearch.h"

#include "base/Error.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace braid;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

bool braid::searchPaysOff(double step, double distinct, int64_t steps) {
  constexpr double assumedGain = 0.05; // share of the matmuls' time; an H100 gained 1.5 to 6 %
  constexpr double minSecondsWon = 1;  // a smaller gain does not pay for a file beside the program
  const double won = assumedGain * step * static_cast<double>(steps);
  return won - distinct * defaultCandidates * timingRounds >= minSecondsWon;
}

namespace {

struct Lap {
  GpuEvent begin{GpuEvent::Kind::Timed}, end{GpuEvent::Kind::Timed};

  double milliseconds() const { return begin.millisecondsTo(end); }
};

MatmulTime timeOf(const std::vector<Lap> &laps) {
  std::vector<double> times;
  for (size_t i = 1; i < laps.size(); ++i) // the first lap loads kernels
    times.push_back(laps[i].milliseconds());
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

} // namespace

std::vector<MatmulTime> braid::timeByTurns(size_t count, const GpuStream &stream,
                                           const std::function<bool(size_t)> &call) {
  std::vector<std::vector<Lap>> laps(count);
  std::vector<bool> works(count, true);
  for (int round = 0; round < timingRounds; ++round)
    for (size_t i = 0; i < count; ++i) {
      if (!works[i])
        continue;
      Lap &lap = laps[i].emplace_back();
      lap.begin.record(stream).check();
      works[i] = call(i);
      lap.end.record(stream).check();
    }
  stream.synchronize().check(" after timing matmuls");
  std::vector<MatmulTime> times(count);
  for (size_t i = 0; i < count; ++i)
    if (works[i])
      times[i] = timeOf(laps[i]);
  return times;
}

size_t braid::fastestOf(const std::vector<MatmulTime> &times) {
  auto isFaster = [](const MatmulTime &a, const MatmulTime &b) { return a.minimum < b.minimum; };
  return std::min_element(times.begin(), times.end(), isFaster) - times.begin();
}

//===----------------------------------------------------------------------===//
// Choosing, with other ranks
//===----------------------------------------------------------------------===//

// JSON has no infinity; writes null instead.
static Json jsonOf(double milliseconds) { return std::isfinite(milliseconds) ? Json(milliseconds) : Json(); }
static double numberOf(const Json &json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

static std::vector<std::string> algorithmsOf(const MatmulTrial &trial) {
  std::vector<std::string> names;
  for (const GemmAlgorithm &candidate : trial.candidates)
    names.push_back(describeAlgorithm(candidate));
  return names;
}

std::string braid::blobOf(const std::vector<MatmulTrial> &trials) {
  Json blob = Json::object();
  for (const MatmulTrial &trial : trials) {
    Json times = Json::array();
    for (const MatmulTime &time : trial.times)
      times.push_back(jsonOf(time.minimum));
    blob[trial.key] = {{"algorithms", algorithmsOf(trial)}, {"times", times}};
  }
  return Json{{"trials", blob}}.dump();
}

std::string braid::blobOfFailure(const std::string &error) { return Json{{"error", error}}.dump(); }

void braid::chooseByBlobs(std::vector<MatmulTrial> &trials, const std::vector<std::string> &blobs) {
  std::vector<Json> ranks;
  for (const std::string &blob : blobs) {
    ranks.push_back(Json::parse(blob));
    if (ranks.back().contains("error"))
      throw RankError(concat("rank ", ranks.size() - 1, ": ", ranks.back()["error"].get<std::string>()));
  }
  for (MatmulTrial &trial : trials) {
    const std::vector<std::string> algorithms = algorithmsOf(trial);
    std::vector<MatmulTime> slowest; // slowest time of each candidate, over the ranks that timed it
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const Json &rankTrials = ranks[rank]["trials"];
      if (!rankTrials.contains(trial.key))
        continue;
      if (rankTrials[trial.key]["algorithms"] != algorithms)
        fail(trial.name, ": ", vendor.gemm, " offers rank ", rank,
             " other algorithms than another rank; --matmul-search needs the same GPU model on all ranks: leave it "
             "out, or start all ranks on GPUs of one model");
      const Json &times = rankTrials[trial.key]["times"];
      slowest.resize(std::max(slowest.size(), times.size()), {0, 0});
      for (size_t i = 0; i < times.size(); ++i)
        slowest[i].minimum = std::max(slowest[i].minimum, numberOf(times[i]));
    }
    trial.chosen = fastestOf(slowest);
    if (!slowest.empty() && !std::isfinite(slowest[trial.chosen].minimum))
      fail(trial.name, ": none of the ", algorithms.size(), " algorithms that ", vendor.gemm,
           " offers runs on all ranks");
  }
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

std::string braid::describeSearch(const std::vector<MatmulTrial> &trials) {
  double first = 0, chosen = 0;
  size_t untimed = 0, candidates = 0;
  for (const MatmulTrial &trial : trials) {
    candidates += trial.candidates.size();
    untimed += trial.times.empty();
    if (trial.times.empty() || !std::isfinite(trial.times[0].minimum))
      continue;
    const double weight = static_cast<double>(trial.users) * static_cast<double>(trial.calls);
    first += weight * trial.times[0].minimum;
    chosen += weight * trial.times[trial.chosen].minimum;
  }
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", chosen > 0 ? first / chosen : 1.0);
  return concat("matmul search: ", trials.size(), " matmuls, ", candidates, " algorithms; together ", ratio,
                " times as fast as the heuristic's first",
                untimed ? concat("; ", untimed, " not timed, because their operands do not fit into free memory") : "");
}

Json braid::jsonOfSearch(const std::vector<MatmulTrial> &trials) {
  Json matmuls = Json::array();
  for (const MatmulTrial &trial : trials) {
    const std::vector<std::string> algorithms = algorithmsOf(trial);
    Json candidates = Json::array();
    for (size_t i = 0; i < trial.times.size(); ++i)
      candidates.push_back({{"algorithm", algorithms[i]},
                            {"seconds", jsonOf(trial.times[i].minimum / 1000)},
                            {"median_seconds", jsonOf(trial.times[i].median / 1000)}});
    matmuls.push_back({{"product", trial.matmul},
                       {"name", trial.name},
                       {"calls", trial.calls},
                       {"chosen", trial.chosen},
                       {"candidates", candidates}});
  }
  return matmuls;
}
