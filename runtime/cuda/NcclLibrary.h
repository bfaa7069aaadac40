//===- NcclLibrary.h - NCCL, for those that are not linked with it --------===//
//
// NCCL's part is an archive of its own, and a program has it if its main asks for it
// (transports.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_NCCLLIBRARY_H
#define BRAID_CUDA_NCCLLIBRARY_H

#include "cuda/DeviceArena.h"
#include "cuda/StreamCollectives.h"

#include <optional>

namespace braid {

// Both throw Error.
struct NcclLibrary {
  // Rank 0 makes it, and all ranks have it.
  std::string (*makeId)();
  std::unique_ptr<StreamCollectives> (*make)(const br_model &model, const Rank &rank, const DevicePlace &place,
                                             const std::string &id);
  // Of memory that all of NCCL's algorithms can use.
  DeviceAllocator allocator;
};

// Before any thread looks for it.
void registerNccl(const NcclLibrary &library);

} // namespace braid
#endif // BRAID_CUDA_NCCLLIBRARY_H
