//===- Device.cpp - the GPU of a rank -------------------------------------===//

#include "gpu/Device.h"

#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "gpu/Vendor.h"

#include <cstdlib>

using namespace braid;

std::string Device::describe() const { return concat(vendor.runtime, " device ", number, " (", name, ")"); }

// Returns "there is one, number 0", or "there are 4, numbers 0 to 3".
static std::string describeCount(int count) {
  return count == 1 ? "there is one, number 0" : concat("there are ", count, ", numbers 0 to ", count - 1);
}

// Slurm and other launchers may show each rank only its own GPU.
static std::string gpuBindingAdvice(int count) {
  const char *visible = std::getenv(vendor.visibleDevices), *bound = std::getenv("SLURM_GPUS_PER_TASK");
  if (count > 1 || (!visible && !bound))
    return "; start fewer ranks per host, or choose the GPU of this rank by --device";
  return concat(visible ? concat(" (", vendor.visibleDevices, "=", visible, ")") : std::string(" (--gpus-per-task)"),
                "; if the launcher shows each rank only its own GPU, as srun --gpus-per-task does, give --device=0, or "
                "show all GPUs of the host to all ranks: srun --gpus-per-node, or --gpu-bind=none");
}

static int chooseDevice(const Rank &rank) {
  const int count = countDevices();
  if (rank.device >= 0) {
    if (rank.device >= count)
      fail("--device=", rank.device, " is not one of the ", vendor.runtime, " devices: ", describeCount(count));
    return rank.device;
  }
  const int device = rank.sharesDevice ? 0 : rank.local;
  if (device >= count && rank.bootstrap && rank.bootstrap->isOneProcess())
    fail("this process runs ", rank.size, " ranks, each on a GPU of its own, but of ", vendor.runtime, " devices ",
         describeCount(count),
         "; let ranks share one with --transport=device-threads, which is slow, or use machines with more GPUs");
  if (device >= count)
    fail("rank ", rank.number, " is number ", rank.local, " of the ranks on this host, but of ", vendor.runtime,
         " devices ", describeCount(count), gpuBindingAdvice(count));
  return device;
}

Device braid::enterDevice(const Rank &rank) { return openDevice(chooseDevice(rank)); }
