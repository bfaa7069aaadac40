//===- Device.h - the GPU of a rank ---------------------------------------===//
//
// Ranks on a host take its GPUs by their local number, which the launcher gives (core/Launch):
// LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_DEVICE_H
#define BRAID_GPU_DEVICE_H

#include "braid_rt.h"
#include "comm/Rank.h"
#include "gpu/Status.h"

#include <string>

namespace braid {

struct Device {
  int number;
  std::string name;
  int architecture = 0; // the vendor's number; 90 for compute capability 9.0
  int compiledFor = 0;  // the lowest architecture that a kernel was compiled for

  // Returns "CUDA device 0 (NVIDIA H100 80GB HBM3)".
  std::string describe() const;

  // The vendor's folder defines the functions below.
  // Whether kernels may begin before the previous kernel ends, and wait for that end themselves.
  bool canOverlapKernels() const;
  // Returns "compute capability 9.0".
  std::string describeArchitecture() const;
  // Returns "compiled for cuda:sm_90".
  std::string describeCode(const br_model &model) const;
  // Returns advice to compile for this GPU; empty if the code fits.
  std::string warnOfCode() const;
};

// Makes the rank's GPU current in the calling thread, and loads the program's kernels.  Throws
// Error if that GPU does not exist or cannot run the kernels.
Device enterDevice(const Rank &rank);

//===----------------------------------------------------------------------===//
// Defined by the vendor's folder
//===----------------------------------------------------------------------===//

// Returns the number of GPUs of this host.  Throws Error if there is none, or no driver.
int countDevices();
// Makes a GPU current in the calling thread, and loads the program's kernels.
Device openDevice(int number);
// Makes a GPU current in the calling thread.
GpuStatus useDevice(int number);

// Text that only this GPU has, and its place on the host's bus for messages.
struct DeviceIdentity {
  std::string unique, bus;
};
DeviceIdentity identifyDevice(int number);

// Memory of the current device, in bytes, and the number of its multiprocessors.
struct DeviceMemory {
  uint64_t free, total;
};
DeviceMemory memoryOfDevice();
int multiprocessorsOfDevice();

// Begin and end a range of the calling thread in the timeline of the vendor's profiler.
void beginRange(const char *name);
void endRange();

} // namespace braid
#endif // BRAID_GPU_DEVICE_H
