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
    std::string workspace, microseconds, fails, split;
    std::getline(fields, workspace, ':');
    std::getline(fields, microseconds, ':');
    std::getline(fields, fails, ':');
    std::getline(fields, split, ':');
    algorithms.push_back({std::strtoul(workspace.c_str(), nullptr, 10),
                          static_cast<unsigned>(std::atoi(microseconds.c_str())), !fails.empty(),
                          static_cast<unsigned>(std::atoi(split.c_str()))});
  }
  return algorithms;
}

static const char *nameOf(uint32_t epilogue) {
  switch (epilogue) {
#define NAME(name)                                                                                                     \
  case CUBLASLT_EPILOGUE_##name:                                                                                       \
    return #name;
    NAME(DEFAULT)
    NAME(BIAS)
    NAME(GELU)
    NAME(GELU_AUX)
    NAME(GELU_BIAS)
    NAME(GELU_AUX_BIAS)
    NAME(DGELU)
    NAME(BGRADA)
    NAME(BGRADB)
#undef NAME
  }
  return "";
}

bool shim::isRefused(uint32_t epilogue, cudaDataType result) {
  const char *text = std::getenv("BRAID_SHIM_LT_REFUSES");
  const std::string name = nameOf(epilogue), typed = name + (result == CUDA_R_16BF ? ":bf16" : ":f32");
  std::istringstream list(text ? text : "");
  for (std::string one; std::getline(list, one, ',');)
    if (one == name || one == typed)
      return true;
  return false;
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
