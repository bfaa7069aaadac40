//===- LtAlgorithms.cpp - what the heuristic offers, and how long it takes -===//
#include "LtAlgorithms.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

using namespace shim;

namespace {

constexpr const char *variable = "BRAID_SHIM_LT";

std::mutex mutex;
std::map<int, std::chrono::microseconds> passed;

} // namespace

std::vector<LtAlgorithm> shim::offeredAlgorithms() {
  const char *text = std::getenv(variable);
  if (!text)
    return {{4096}, {0}}; // the first wants more workspace than many have
  std::vector<LtAlgorithm> algorithms;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    std::istringstream fields(one);
    std::string workspace, microseconds, fails;
    std::getline(fields, workspace, ':');
    std::getline(fields, microseconds, ':');
    std::getline(fields, fails, ':');
    algorithms.push_back({std::strtoul(workspace.c_str(), nullptr, 10),
                          static_cast<unsigned>(std::atoi(microseconds.c_str())), !fails.empty()});
  }
  return algorithms;
}

std::chrono::steady_clock::time_point shim::timeOnStream(int stream) {
  if (!std::getenv(variable))
    return std::chrono::steady_clock::now();
  std::lock_guard lock(mutex);
  return std::chrono::steady_clock::time_point(passed[stream]);
}

void shim::passTime(int stream, unsigned microseconds) {
  std::lock_guard lock(mutex);
  passed[stream] += std::chrono::microseconds(microseconds);
}
