//===- Check.cpp - errors of CUDA calls -----------------------------------===//

#include "cuda/Check.h"

#include "base/Error.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <memory>
#include <string_view>

using namespace braid;

const Vendor braid::vendor = {/*runtime=*/"CUDA",     /*gemm=*/"cuBLASLt",
                              /*gemmKey=*/"cublaslt",
                              /*attention=*/"cuDNN",  /*collectives=*/"NCCL",
                              /*transport=*/"nccl",
                              /*target=*/"cuda",      /*visibleDevices=*/"CUDA_VISIBLE_DEVICES"};

// Whether a kernel may have caused this error, which a later call then reports.
static bool isLate(cudaError_t error) {
  constexpr cudaError_t late[] = {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure,
                                  cudaErrorECCUncorrectable};
  return std::find(std::begin(late), std::end(late), error) != std::end(late);
}

std::string GpuStatus::describe() const {
  const cudaError_t error = static_cast<cudaError_t>(code);
  std::string text = concat(cudaGetErrorName(error), " (", code, "): ", cudaGetErrorString(error));
  if (isLate(error))
    text += "; work that was launched before may be the cause: CUDA_LAUNCH_BLOCKING=1 with --cuda-graph=off tells "
            "which kernel it is";
  return text;
}

void braid::clearGpuError() { cudaGetLastError(); }

// The mangled name is that of `void braid::k3_kernel(float const*, float*)`.
std::string braid::nameOfKernel(const void *kernel) {
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
