//===- Check.cpp - errors of CUDA calls -----------------------------------===//

#include "cuda/Check.h"

#include "core/Error.h"

#include <algorithm>
#include <iterator>

using namespace braid;

// Errors of kernels that a later call reports.
static bool isLate(cudaError_t error) {
  constexpr cudaError_t late[] = {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure,
                                  cudaErrorECCUncorrectable};
  return std::find(std::begin(late), std::end(late), error) != std::end(late);
}

std::string braid::describeCuda(cudaError_t error) {
  std::string text = concat(cudaGetErrorName(error), " (", static_cast<int>(error), "): ", cudaGetErrorString(error));
  if (isLate(error))
    text += "; work that was launched before may be the cause: CUDA_LAUNCH_BLOCKING=1 with --cuda-graph=off tells "
            "which kernel it is";
  return text;
}

void braid::checkCuda(cudaError_t status, const char *call) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError(); // it is told here, not again by the next call
  fail(call, ": ", describeCuda(status));
}

const char *ProgramErrors::actionName() const {
  return program && action >= 0 && action < program->n_actions ? program->actions[action] : "";
}

std::string ProgramErrors::place() const {
  if (!program)
    return "";
  if (action < 0)
    return concat(program->name, ": ");
  const char *name = actionName();
  return concat(program->name, ", action ", action, *name ? concat(" (", name, ")") : "", ": ");
}

void ProgramErrors::note(cudaError_t error, const char *what) {
  if (error == cudaSuccess || any())
    return;
  cudaGetLastError();
  first = concat(place(), what, ": ", describeCuda(error));
}

void ProgramErrors::note(const std::string &text) {
  if (!any())
    first = concat(place(), text);
}
