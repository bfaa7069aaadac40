//===- Device.cpp - GPUs of CUDA ------------------------------------------===//

#include "gpu/Device.h"

#include "base/Error.h"
#include "cuda/Check.h"
#include "cuda/braid_cuda.h"

#include <algorithm>
#include <cstring>
#include <nvtx3/nvToolsExt.h>
#include <vector>

using namespace braid;

// Returns "13.0".
static std::string describeVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return concat(version / 1000, ".", version % 1000 / 10);
}

int braid::countDevices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    fail("this program runs on a GPU, but CUDA finds none; check nvidia-smi and CUDA_VISIBLE_DEVICES, or compile with "
         "--target=cpu");
  if (status == cudaErrorInsufficientDriver)
    fail("this program runs on a GPU, but the driver is missing or too old for CUDA ", describeVersion(),
         "; check nvidia-smi, or compile with --target=cpu");
  checkCuda(status, "cudaGetDeviceCount");
  return count;
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
           describeCapability(device.architecture), "; ", capabilityAdvice(device.architecture));
    checkCuda(status, "cudaFuncGetAttributes");
    device.compiledFor =
        device.compiledFor ? std::min(device.compiledFor, attributes.ptxVersion) : attributes.ptxVersion;
  }
}

std::string Device::describeArchitecture() const {
  return concat("compute capability ", describeCapability(architecture));
}

// Returns false for kernels compiled for older GPUs: their enter_kernel does not wait, even if the
// driver translates them for this GPU.
bool Device::canOverlapKernels() const { return architecture >= 90 && compiledFor >= 90; }

std::string Device::describeCode(const br_model &model) const {
  const std::string text = concat("compiled for ", model.target), own = concat("sm_", compiledFor);
  return compiledFor == 0 || text.find(own) != std::string::npos ? text : concat(text, " and built for ", own);
}

// Warns if kernels were compiled for another GPU generation: they run as they are, or after a
// translation by the driver.
std::string Device::warnOfCode() const {
  if (compiledFor == 0 || compiledFor / 10 == architecture / 10)
    return "";
  return concat("the kernels were compiled for compute capability ", describeCapability(compiledFor), ", but ",
                describe(), " has ", describeCapability(architecture), ", so they may run slower than possible; ",
                capabilityAdvice(architecture));
}

Device braid::openDevice(int number) {
  Device device{number, ""};
  cudaDeviceProp properties{};
  checkCuda(cudaGetDeviceProperties(&properties, device.number), "cudaGetDeviceProperties");
  device.name = properties.name;
  device.architecture = properties.major * 10 + properties.minor;
  useDevice(device.number).check();
  loadKernels(device);
  return device;
}

GpuStatus braid::useDevice(int number) { return {cudaSetDevice(number), "cudaSetDevice"}; }

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

DeviceIdentity braid::identifyDevice(int number) {
  cudaDeviceProp properties{};
  cudaError_t code = cudaGetDeviceProperties(&properties, number);
  char bus[32] = "";
  if (code == cudaSuccess)
    code = cudaDeviceGetPCIBusId(bus, sizeof bus, number);
  if (code != cudaSuccess)
    fail("cannot identify CUDA device ", number, ": ", describeCuda(code));
  unsigned char bytes[sizeof properties.uuid];
  std::memcpy(bytes, &properties.uuid, sizeof bytes);
  DeviceIdentity identity{"", bus};
  for (unsigned char byte : bytes)
    identity.unique += concat(static_cast<int>(byte), ".");
  return identity;
}

DeviceMemory braid::memoryOfDevice() {
  size_t free = 0, total = 0;
  checkCuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

int braid::multiprocessorsOfDevice() {
  int device = 0, all = 0;
  checkCuda(cudaGetDevice(&device), "cudaGetDevice");
  checkCuda(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return all;
}

void braid::beginRange(const char *name) { nvtxRangePushA(name); }
void braid::endRange() { nvtxRangePop(); }
