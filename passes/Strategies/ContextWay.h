#ifndef BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
#define BRAID_PASSES_STRATEGIES_CONTEXTWAY_H

#include "runtime/cli/Value.h"

namespace braid {

/// Methods by which positions of a sharded sequence read other positions.
enum class ContextWay {
  Auto,    ///< Ulysses if the ranks divide the heads, else Gather.
  Ring,    ///< Blocks of what positions read go round the ranks (Liu et al. 2023, "Ring Attention").
  Gather,  ///< Sharding rules gather the sequence where an op needs all of it.
  Ulysses, ///< Ranks exchange positions for heads (Jacobs et al. 2023, "DeepSpeed Ulysses").
};

template <>
inline constexpr cli::Word cli::words<ContextWay>[] = {
    {"auto", "the fastest of these, as predicted"},
    {"ring", "pass keys and values round the ranks, block by block, while attention is computed"},
    {"gather", "gather keys and values; every rank has all of them"},
    {"ulysses", "change positions for heads and back, where these ranks divide the heads"}};

/// Assignment of the positions of a sharded sequence to ranks.
enum class ContextOrder {
  Auto,     ///< Zigzag in a causal ring that supports it, else Straight.
  Straight, ///< One block per rank, in order of ranks.
  Zigzag,   ///< Two blocks per rank, at equal distances from both ends: equal work under a causal mask.
};
template <>
inline constexpr cli::Word cli::words<ContextOrder>[] = {
    {"auto", "zigzag in a causal ring that it fits, else straight"},
    {"straight", "one block of positions, in order: of a causal mask the last rank has most"},
    {"zigzag", "two blocks, one from either end: all ranks have as much of a causal mask"}};

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
