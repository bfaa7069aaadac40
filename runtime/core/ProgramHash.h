//===- ProgramHash.h - what tells a compiled program from another ---------===//
#ifndef BRAID_CORE_PROGRAMHASH_H
#define BRAID_CORE_PROGRAMHASH_H

#include "braid_rt.h"

#include <string>

namespace braid {

// Of the whole list that starts with `first`: the plan, the mesh, each tensor's place and the
// collectives of each kind of ranks in their order.  Ranks of one job have the same, whatever
// processors they were compiled for.
std::string programHash(const br_model &first);

} // namespace braid
#endif // BRAID_CORE_PROGRAMHASH_H
