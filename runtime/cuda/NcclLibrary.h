//===- NcclLibrary.h - NCCL for code that is not linked with it -----------===//
//
// The NCCL code is an archive of its own; a program contains it if its main asks for it
// (transports.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_NCCLLIBRARY_H
#define BRAID_CUDA_NCCLLIBRARY_H

#include "cuda/DeviceArena.h"
#include "cuda/StreamCollectives.h"

#include <optional>

namespace braid {

// Functions of NCCL code; both throw Error.
struct NcclLibrary {
  // Makes the id on rank 0; all ranks receive it.
  std::string (*makeId)();
  std::unique_ptr<StreamCollectives> (*make)(const br_model &model, const Rank &rank, const DevicePlace &place,
                                             const std::string &id);
  // Allocates memory that all of NCCL's algorithms can use.
  DeviceAllocator allocator;
};

// Must be called before any thread uses the library.
void registerNccl(const NcclLibrary &library);

} // namespace braid
#endif // BRAID_CUDA_NCCLLIBRARY_H
