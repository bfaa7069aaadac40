//===- Check.cpp - errors of CUDA calls -----------------------------------===//

#include "cuda/Check.h"

#include "base/Error.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <memory>
#include <string_view>

using namespace braid;

// Whether a kernel may have caused this error, which a later call then reports.
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
  cudaGetLastError(); // clears the error, which the next call would repeat
  fail(call, ": ", describeCuda(status));
}

cudaError_t braid::queryEvent(cudaEvent_t event) {
  const cudaError_t code = cudaEventQuery(event);
  if (code == cudaErrorNotReady)
    cudaGetLastError(); // else a library would report it as its own failure
  return code;
}

const char *ProgramErrors::actionName() const {
  return program && action >= 0 && action < program->n_actions ? program->actions[action].name : "";
}

std::string ProgramErrors::place() const {
  if (!program)
    return "";
  if (action < 0)
    return concat(program->name, ": ");
  const char *name = actionName();
  return concat(program->name, ", action ", action, *name ? concat(" (", name, ")") : "", ": ");
}

// Returns the name of a kernel without namespaces and arguments: "k3_kernel" for the mangled name
// of `void braid::k3_kernel(float const*, float*)`.
static std::string nameOfKernel(const void *kernel) {
  const char *mangled = nullptr;
#if !defined(CUDART_VERSION) || CUDART_VERSION >= 12030
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess)
    mangled = nullptr;
#endif
  if (!mangled)
    return "a kernel";
  const std::unique_ptr<char, void (*)(void *)> demangled(abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr),
                                                          std::free);
  std::string name = demangled ? demangled.get() : mangled;
  for (std::string_view part : {"(anonymous namespace)::", "braid::", "void "})
    for (size_t at = name.find(part); at != std::string::npos; at = name.find(part))
      name.erase(at, part.size());
  return name.substr(0, name.find('('));
}

void ProgramErrors::note(cudaError_t error, const char *call) {
  if (error != cudaSuccess && !any())
    first = concat(place(), call, ": ", describeCuda(error));
  if (error != cudaSuccess)
    cudaGetLastError(); // clears the error, which the next call would repeat
}

void ProgramErrors::note(cudaError_t error, const void *kernel) {
  if (error != cudaSuccess)
    note(error, nameOfKernel(kernel).c_str());
}

void ProgramErrors::note(const std::string &text) {
  if (!any())
    first = concat(place(), text);
}
