//===- Profile.cpp - times of the actions of programs ---------------------===//

#include "core/Profile.h"

#include "base/File.h"

#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

using namespace braid;

double Profile::Program::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

static Profile::Program emptyTimes(const br_program &program) {
  const size_t count = program.n_actions;
  return {&program,
          0,
          true,
          std::vector<double>(count),
          std::vector<double>(count, std::numeric_limits<double>::infinity()),
          std::vector<int32_t>(count, -1)};
}

Profile::Profile(const br_model &model, const std::string &path) : file(path), first(model.programs) {
  if (!path.empty())
    File::openForAppending(path); // throws if it is not writable
  for (int32_t i = 0; i < model.n_programs; ++i)
    all.push_back(emptyTimes(model.programs[i]));
}

void Profile::add(const br_program &program, std::span<const TimedAction> actions) {
  Program &times = of(program);
  if (times.runs == 1 && std::exchange(times.hasWarmUp, false)) {
    std::vector<int32_t> matmuls = std::move(times.matmuls);
    times = emptyTimes(program);
    times.hasWarmUp = false;
    times.matmuls = std::move(matmuls);
  }
  ++times.runs;
  for (const TimedAction &action : actions) {
    const double seconds = action.end - action.begin;
    times.seconds[action.action] += seconds;
    times.fastest[action.action] = std::min(times.fastest[action.action], seconds);
  }
}

void Profile::runsMatmul(const br_program &program, int32_t action, int32_t matmul) {
  of(program).matmuls[action] = matmul;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static void addAction(Profile::Sums &sums, const Profile::Program &program, size_t number, const MachineRates &rates) {
  const br_action_desc &action = program.program->actions[number];
  ++sums.actions;
  sums.seconds += program.seconds[number] / static_cast<double>(program.runs);
  sums.fastest += program.fastest[number];
  sums.flops += action.matrix_flops + action.vector_flops;
  sums.bytes += static_cast<double>(action.bytes);
  sums.limit += rates.limitOf(action);
}

std::vector<Profile::Sums> Profile::sumsBy(const Program &program, Key key, const MachineRates &rates) {
  std::map<std::string, Sums> byName;
  for (size_t i = 0; i < program.seconds.size(); ++i)
    if (const char *name = program.program->actions[i].*key)
      addAction(byName[name], program, i, rates);
  std::vector<Sums> sums;
  for (auto &[name, group] : byName) {
    group.name = name;
    sums.push_back(std::move(group));
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sums &a, const Sums &b) { return a.seconds > b.seconds; });
  return sums;
}

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

namespace {

// Formats a number; returns a dash if the value is unknown.
std::string column(const char *format, double value, bool isKnown) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return isKnown ? text : "-";
}

void printRow(const Profile::Sums &row, double total, size_t number) {
  std::printf("%9.3f ms %5.1f%% %9s %8s %9s  %5zu  %s\n", row.seconds * 1e3, total > 0 ? 100 * row.seconds / total : 0,
              column("%.1f", row.flops / row.seconds / 1e9, row.flops > 0 && row.seconds > 0).c_str(),
              column("%.1f", row.bytes / row.seconds / 1e9, row.bytes > 0 && row.seconds > 0).c_str(),
              column("%.0f%%", 100 * row.limit / row.seconds, row.limit > 0 && row.seconds > 0).c_str(), number,
              row.name.c_str());
}

void printHeading(const char *number, const char *what) {
  std::printf("%12s %6s %9s %8s %9s  %5s  %s\n", "time", "of all", "GFLOP/s", "GB/s", "of limit", number, what);
}

constexpr size_t kMaxRows = 30;

void printActions(const Profile::Program &program, const MachineRates &rates, double total) {
  std::vector<std::pair<Profile::Sums, size_t>> rows;
  for (size_t i = 0; i < program.seconds.size(); ++i) {
    Profile::Sums sums;
    sums.name = program.program->actions[i].name;
    addAction(sums, program, i, rates);
    rows.push_back({std::move(sums), i});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto &a, const auto &b) { return a.first.seconds > b.first.seconds; });
  printHeading("#", "action");
  for (size_t i = 0; i < std::min(rows.size(), kMaxRows); ++i)
    printRow(rows[i].first, total, rows[i].second);
}

} // namespace

// Prints "the limit is ...: 210.5 GFLOP/s in f32, 23.1 GB/s".
static void printLimit(const MachineRates &rates) {
  if (rates.bytesPerSecond == 0)
    return;
  std::printf("the limit is what this rank reaches in large GEMMs and copies: %.1f GFLOP/s in f32",
              rates.matrixFlops / 1e9);
  if (rates.halfMatrixFlops > 0)
    std::printf(", %.1f in bf16", rates.halfMatrixFlops / 1e9);
  std::printf(", %.1f GB/s\n", rates.bytesPerSecond / 1e9);
}

void Profile::print(const MachineRates &rates) const {
  constexpr std::pair<const char *, Key> groups[] = {{"kernel", &br_action_desc::kernel},
                                                     {"op", &br_action_desc::op},
                                                     {"unit", &br_action_desc::unit},
                                                     {"phase", &br_action_desc::phase}};
  printLimit(rates);
  for (const Program &program : all) {
    if (program.runs == 0)
      continue;
    const double total = program.total() / static_cast<double>(program.runs);
    std::printf("program %s: %.3f ms a run, mean of %lld\n", program.program->name, total * 1e3,
                static_cast<long long>(program.runs));
    printActions(program, rates, total);
    for (const auto &[name, key] : groups) {
      const std::vector<Sums> sums = sumsBy(program, key, rates);
      if (sums.empty())
        continue;
      printHeading("times", name);
      for (size_t i = 0; i < std::min(sums.size(), kMaxRows); ++i)
        printRow(sums[i], total, sums[i].actions);
    }
  }
}
