//===- Device.cpp - the GPU of a rank -------------------------------------===//

#include "cuda/Device.h"

#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "cuda/Check.h"
#include "cuda/braid_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace braid;

std::string Device::describe() const { return concat("CUDA device ", number, " (", name, ")"); }

// Returns "there is one, number 0", or "there are 4, numbers 0 to 3".
static std::string describeCount(int count) {
  return count == 1 ? "there is one, number 0" : concat("there are ", count, ", numbers 0 to ", count - 1);
}

// Returns "13.0".
static std::string describeVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return concat(version / 1000, ".", version % 1000 / 10);
}

// Slurm and other launchers may show each rank only its own GPU.
static std::string gpuBindingAdvice(int count) {
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES"), *bound = std::getenv("SLURM_GPUS_PER_TASK");
  if (count > 1 || (!visible && !bound))
    return "; start fewer ranks per host, or choose the GPU of this rank by --device";
  return concat(visible ? concat(" (CUDA_VISIBLE_DEVICES=", visible, ")") : std::string(" (--gpus-per-task)"),
                "; if the launcher shows each rank only its own GPU, as srun --gpus-per-task does, give --device=0, or "
                "show all GPUs of the host to all ranks: srun --gpus-per-node, or --gpu-bind=none");
}

static int chooseDevice(const Rank &rank) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    fail("this program runs on a GPU, but CUDA finds none; check nvidia-smi and CUDA_VISIBLE_DEVICES, or compile with "
         "--target=cpu");
  if (status == cudaErrorInsufficientDriver)
    fail("this program runs on a GPU, but the driver is missing or too old for CUDA ", describeVersion(),
         "; check nvidia-smi, or compile with --target=cpu");
  checkCuda(status, "cudaGetDeviceCount");
  if (rank.device >= 0) {
    if (rank.device >= count)
      fail("--device=", rank.device, " is not one of the CUDA devices: ", describeCount(count));
    return rank.device;
  }
  const int device = rank.sharesDevice ? 0 : rank.local;
  if (device >= count && rank.bootstrap && rank.bootstrap->isOneProcess())
    fail("this process runs ", rank.size, " ranks, each on a GPU of its own, but of CUDA devices ",
         describeCount(count),
         "; let ranks share one with --transport=device-threads, which is slow, or use machines with more GPUs");
  if (device >= count)
    fail("rank ", rank.number, " is number ", rank.local, " of the ranks on this host, but of CUDA devices ",
         describeCount(count), gpuBindingAdvice(count));
  return device;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// The kernels of programs, registered before main runs.
static std::vector<const void *> &ownKernels() {
  static std::vector<const void *> kernels;
  return kernels;
}

void br_cuda_kernel(const void *kernel) { ownKernels().push_back(kernel); }

// Returns "9.0".
static std::string describeCapability(int capability) { return concat(capability / 10, ".", capability % 10); }

static std::string capabilityAdvice(int capability) {
  return concat("compile with --target=cuda:sm_", capability,
                ", or build the folder with -DCMAKE_CUDA_ARCHITECTURES=", capability);
}

// Loads all kernels.  The compiled code decides whether they run, not the model's target: CMake may
// have compiled for other GPUs or for several.
static void loadKernels(Device &device) {
  for (const void *kernel : ownKernels()) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
      fail("the kernels of this program were not compiled for ", device.describe(), ", which has compute capability ",
           describeCapability(device.capability), "; ", capabilityAdvice(device.capability));
    checkCuda(status, "cudaFuncGetAttributes");
    device.compiledFor =
        device.compiledFor ? std::min(device.compiledFor, attributes.ptxVersion) : attributes.ptxVersion;
  }
}

std::string Device::describeCode(const br_model &model) const {
  const std::string text = concat("compiled for ", model.target), own = concat("sm_", compiledFor);
  return compiledFor == 0 || text.find(own) != std::string::npos ? text : concat(text, " and built for ", own);
}

// Warns if kernels were compiled for another GPU generation: they run as they are, or after a
// translation by the driver.
std::string Device::warnOfCode() const {
  if (compiledFor == 0 || compiledFor / 10 == capability / 10)
    return "";
  return concat("the kernels were compiled for compute capability ", describeCapability(compiledFor), ", but ",
                describe(), " has ", describeCapability(capability), ", so they may run slower than possible; ",
                capabilityAdvice(capability));
}

Device braid::enterDevice(const Rank &rank) {
  Device device{chooseDevice(rank), ""};
  cudaDeviceProp properties{};
  checkCuda(cudaGetDeviceProperties(&properties, device.number), "cudaGetDeviceProperties");
  device.name = properties.name;
  device.capability = properties.major * 10 + properties.minor;
  checkCuda(cudaSetDevice(device.number), "cudaSetDevice");
  loadKernels(device);
  return device;
}

DeviceMemory braid::memoryOfDevice() {
  size_t free = 0, total = 0;
  checkCuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}
