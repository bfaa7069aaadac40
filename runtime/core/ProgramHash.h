//===- ProgramHash.h - hash of a compiled program -------------------------===//
#ifndef BRAID_CORE_PROGRAMHASH_H
#define BRAID_CORE_PROGRAMHASH_H

#include "braid_rt.h"

#include <string>

namespace braid {

// Hashes all models of the list that starts with `first`: the plan, the mesh, the offset of each
// tensor, and the collectives in order.  All ranks of a job have the same hash, whatever processors
// they were compiled for.
std::string programHash(const br_model &first);

} // namespace braid
#endif // BRAID_CORE_PROGRAMHASH_H
