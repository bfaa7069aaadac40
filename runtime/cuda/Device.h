//===- Device.h - the GPU of a rank ---------------------------------------===//
//
// Ranks on a host take its GPUs by their local number, which the launcher gives (core/Launch):
// LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_DEVICE_H
#define BRAID_CUDA_DEVICE_H

#include "braid_rt.h"
#include "comm/Rank.h"

#include <string>

namespace braid {

struct Device {
  int number;
  std::string name;
  int capability = 0;  // compute capability; 90 means 9.0
  int compiledFor = 0; // lowest compute capability that a kernel was compiled for

  // Returns "CUDA device 0 (NVIDIA H100 80GB HBM3)".
  std::string describe() const;
  // Returns "compiled for cuda:sm_90".
  std::string describeCode(const br_model &model) const;
  // Returns advice to compile for this GPU; empty if the code fits.
  std::string warnOfCode() const;
};

// Makes the rank's GPU current in the calling thread, and loads the program's kernels.  Throws
// Error if that GPU does not exist or cannot run the kernels.
Device enterDevice(const Rank &rank);

// Memory of the current device, in bytes.
struct DeviceMemory {
  uint64_t free, total;
};
DeviceMemory memoryOfDevice();

} // namespace braid
#endif // BRAID_CUDA_DEVICE_H
