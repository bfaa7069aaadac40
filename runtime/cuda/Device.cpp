//===- Device.cpp - the GPU of a rank -------------------------------------===//

#include "cuda/Device.h"

#include "core/Error.h"
#include "core/Reach.h"
#include "cuda/Check.h"

#include <charconv>
#include <string_view>

using namespace braid;

std::string Device::describe() const { return concat("CUDA device ", number, " (", name, ")"); }

// "there is 1, number 0".
static std::string describeCount(int count) {
  return count == 1 ? "there is one, number 0" : concat("there are ", count, ", numbers 0 to ", count - 1);
}

// "13.0".
static std::string describeVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return concat(version / 1000, ".", version % 1000 / 10);
}

static int chooseDevice(const Rank &rank) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    fail("this program runs on a GPU, and CUDA finds none; look at nvidia-smi and CUDA_VISIBLE_DEVICES, or compile "
         "with --target=cpu");
  if (status == cudaErrorInsufficientDriver)
    fail("this program runs on a GPU, and there is no driver for one, or one that is too old for CUDA ",
         describeVersion(), "; look at nvidia-smi, or compile with --target=cpu");
  checkCuda(status, "cudaGetDeviceCount");
  if (rank.device >= 0) {
    if (rank.device >= count)
      fail("--device=", rank.device, " is not one of the CUDA devices: ", describeCount(count));
    return rank.device;
  }
  const int device = rank.sharesDevice ? 0 : rank.local;
  if (device >= count && rank.reach && rank.reach->isOneProcess())
    fail("this process runs ", rank.size, " ranks, each on a GPU of its own, but of CUDA devices ",
         describeCount(count),
         "; let ranks share one with --transport=device-threads, which is slow, or start them "
         "where there are more");
  if (device >= count)
    fail("rank ", rank.number, " is number ", rank.local, " of the ranks on this host, but of CUDA devices ",
         describeCount(count), "; start fewer ranks a host, or say which GPU this rank takes by --device");
  return device;
}

// Code for sm_90 runs on 9.0 and later 9.x; that of sm_90a on 9.0 alone.
static void checkCapability(const br_model &model, const Device &device, int major, int minor) {
  const std::string_view target = model.target, prefix = "cuda:sm_";
  if (target.substr(0, prefix.size()) != prefix)
    return; // the code for every GPU is in the program
  int wanted = 0;
  const char *end = target.data() + target.size();
  const char *suffix = std::from_chars(target.data() + prefix.size(), end, wanted).ptr;
  const bool isExact = suffix != end && *suffix == 'a';
  const bool fits = wanted / 10 == major && (isExact ? wanted % 10 == minor : wanted % 10 <= minor);
  if (wanted == 0 || !fits)
    fail("this program was compiled for ", target.substr(5), ", but ", device.describe(), " has compute capability ",
         major, ".", minor, "; compile it with --target=cuda:sm_", major, minor);
}

Device braid::enterDevice(const br_model &model, const Rank &rank) {
  Device device{chooseDevice(rank), ""};
  cudaDeviceProp properties{};
  checkCuda(cudaGetDeviceProperties(&properties, device.number), "cudaGetDeviceProperties");
  device.name = properties.name;
  checkCapability(model, device, properties.major, properties.minor);
  checkCuda(cudaSetDevice(device.number), "cudaSetDevice");
  return device;
}

DeviceMemory braid::memoryOfDevice() {
  size_t free = 0, total = 0;
  checkCuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}
