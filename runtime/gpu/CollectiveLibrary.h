//===- CollectiveLibrary.h - a vendor's library of collectives ------------===//
//
// The code for such a library (NCCL) is an archive of its own; a program contains it if its main asks for it
// (transports.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_COLLECTIVELIBRARY_H
#define BRAID_GPU_COLLECTIVELIBRARY_H

#include "gpu/DeviceArena.h"
#include "gpu/StreamCollectives.h"

#include <optional>

namespace braid {

// Functions of that code; both throw Error.
struct CollectiveLibrary {
  // Makes the id on rank 0; all ranks receive it.
  std::string (*makeId)();
  std::unique_ptr<StreamCollectives> (*make)(const br_model &model, const Rank &rank, const DevicePlace &place,
                                             const std::string &id);
  // Allocates memory that all of the library's algorithms can use.
  DeviceAllocator allocator;
};

// Must be called before any thread uses the library.
void registerCollectives(const CollectiveLibrary &library);

} // namespace braid
#endif // BRAID_GPU_COLLECTIVELIBRARY_H
