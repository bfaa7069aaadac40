//===- Failures.cpp - calls that fail on demand ---------------------------===//
#include "Failures.h"

#include "Queues.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

using namespace shim;

namespace {

struct Failure {
  std::string call, error;
  int which, device;
  int seen = 0;
};

struct Failures {
  std::mutex mutex;
  std::vector<Failure> all;

  Failures() {
    const char *text = std::getenv("BRAID_SHIM_FAIL");
    std::istringstream list(text ? text : "");
    for (std::string one; std::getline(list, one, ',');) {
      std::istringstream fields(one);
      std::string call, which, error, device;
      std::getline(fields, call, ':');
      std::getline(fields, which, ':');
      std::getline(fields, error, ':');
      std::getline(fields, device, ':');
      all.push_back({call, error, std::atoi(which.c_str()), device.empty() ? -1 : std::atoi(device.c_str())});
    }
  }
};

thread_local cudaError_t lastError = cudaSuccess;

constexpr struct {
  cudaError_t error;
  const char *name, *text;
} errors[] = {
#define X(name, value, text) {name, #name, text},
    BRAID_SHIM_ERRORS(X)
#undef X
};

} // namespace

std::string shim::injectedFailure(const char *call) {
  static Failures failures;
  if (failures.all.empty())
    return "";
  std::lock_guard lock(failures.mutex);
  for (Failure &failure : failures.all)
    if (failure.call == call && (failure.device < 0 || failure.device == currentDevice()) &&
        ++failure.seen == failure.which)
      return failure.error;
  return "";
}

cudaError_t shim::noteError(cudaError_t error) { return lastError = error; }

cudaError_t shim::failureOf(const char *call) {
  std::string name = injectedFailure(call);
  if (name.empty())
    return cudaSuccess;
  for (auto &one : errors)
    if (name == one.name)
      return noteError(one.error);
  std::fprintf(stderr, "error: BRAID_SHIM_FAIL names the unknown error '%s' for %s\n", name.c_str(), call);
  std::_Exit(1);
}

const char *cudaGetErrorName(cudaError_t error) {
  for (auto &one : errors)
    if (error == one.error)
      return one.name;
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  for (auto &one : errors)
    if (error == one.error)
      return one.text;
  return "unrecognized error code";
}

cudaError_t cudaGetLastError() { return std::exchange(lastError, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return lastError; }
