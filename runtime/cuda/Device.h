//===- Device.h - the GPU of a rank ---------------------------------------===//
//
// Ranks of a host take its GPUs in the order of their numbers there, which the
// launcher tells (core/Launch): LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_DEVICE_H
#define BRAID_CUDA_DEVICE_H

#include "braid_rt.h"
#include "core/Rank.h"

#include <string>

namespace braid {

struct Device {
  int number;
  std::string name;

  // "CUDA device 0 (NVIDIA H100 80GB HBM3)".
  std::string describe() const;
};

// Makes the rank's GPU current in the calling thread.  Throws Error when there is none,
// or it cannot run what the model was compiled for.
Device enterDevice(const br_model &model, const Rank &rank);

// Of the device that is current.
struct DeviceMemory {
  uint64_t free, total;
};
DeviceMemory memoryOfDevice();

} // namespace braid
#endif // BRAID_CUDA_DEVICE_H
