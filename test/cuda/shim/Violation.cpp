//===- Violation.cpp - messages about violations --------------------------===//
#include "Violation.h"

#include "Recorder.h"
#include "shim/Types.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace shim {

constinit thread_local LaunchName launchName;

void violation(const std::string &what, bool thread) {
  std::string where;
  if (launchName.kernel)
    where += std::string(" in kernel ") + launchName.kernel;
  if (launchName.kernel && thread)
    where += format(", block %u of %u, thread %u of %u", blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
  if (launchName.action)
    where += std::string("\n  action ") + launchName.action;
  flushTraces();
  std::fflush(stdout);
  std::fprintf(stderr, "cuda violation: %s%s\n", what.c_str(), where.c_str());
  std::fflush(stderr);
  std::_Exit(violationStatus);
}

std::string format(const char *text, ...) {
  va_list args, copy;
  va_start(args, text);
  va_copy(copy, args);
  std::string result(std::vsnprintf(nullptr, 0, text, args), '\0');
  std::vsnprintf(result.data(), result.size() + 1, text, copy);
  va_end(copy);
  va_end(args);
  return result;
}

} // namespace shim
