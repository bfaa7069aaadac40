//===- Device.h - the GPU of a rank ---------------------------------------===//
//
// Ranks of a host take its GPUs in the order of their numbers there, which the
// launcher tells (core/Launch): LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID.
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
  int capability = 0;  // 90 is 9.0
  int compiledFor = 0; // likewise, the oldest that a kernel of the program was compiled for

  // "CUDA device 0 (NVIDIA H100 80GB HBM3)".
  std::string describe() const;
  // "compiled for cuda:sm_90".
  std::string describeCode(const br_model &model) const;
  // What it would do better with; empty: nothing.
  std::string warnOfCode() const;
};

// Makes the rank's GPU current in the calling thread, and loads the program's kernels.
// Throws Error when there is no such GPU, or it cannot run them.
Device enterDevice(const Rank &rank);

// Of the device that is current.
struct DeviceMemory {
  uint64_t free, total;
};
DeviceMemory memoryOfDevice();

} // namespace braid
#endif // BRAID_CUDA_DEVICE_H
