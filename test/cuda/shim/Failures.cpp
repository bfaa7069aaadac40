//===- Failures.cpp - calls that fail on demand ---------------------------===//
#include "Failures.h"

#include "Queues.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>
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

  explicit Failures(const char *variable) {
    const char *text = std::getenv(variable);
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

std::atomic<bool> injected = false;
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

// Returns the rule for the current call; null if there is none.
static const Failure *findTold(Failures &failures, const char *call) {
  if (failures.all.empty())
    return nullptr;
  std::lock_guard lock(failures.mutex);
  for (Failure &failure : failures.all)
    if (failure.call == call && (failure.device < 0 || failure.device == currentDevice()) &&
        ++failure.seen == failure.which)
      return &failure;
  return nullptr;
}

std::string shim::injectedFailure(const char *call) {
  static Failures failures("BRAID_SHIM_FAIL");
  const Failure *told = findTold(failures, call);
  if (told)
    injected = true;
  return told ? told->error : "";
}

bool shim::anyInjected() { return injected; }

void shim::blockIfTold(const char *call) {
  static Failures blocks("BRAID_SHIM_BLOCK");
  if (findTold(blocks, call))
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
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
