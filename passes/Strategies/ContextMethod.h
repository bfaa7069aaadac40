#ifndef BRAID_PASSES_STRATEGIES_CONTEXTMETHOD_H
#define BRAID_PASSES_STRATEGIES_CONTEXTMETHOD_H

#include "runtime/cli/Value.h"

namespace braid {

/// Methods by which positions of a sharded sequence read other positions.
enum class ContextMethod {
  Auto,    ///< Ulysses if the ranks divide the heads, else Gather.
  Ring,    ///< Blocks of what positions read go round the ranks (Liu et al. 2023, "Ring Attention").
  Gather,  ///< Sharding rules gather the sequence where an op needs all of it.
  Ulysses, ///< Ranks exchange positions for heads (Jacobs et al. 2023, "DeepSpeed Ulysses").
};

template <>
inline constexpr cli::Word cli::words<ContextMethod>[] = {
    {"auto", "the fastest exchange by predicted time"},
    {"ring", "pass blocks of keys and values around the ranks while attention is computed"},
    {"gather", "gather all keys and values on every rank"},
    {"ulysses", "exchange positions for heads and back, if the ranks divide the heads"}};

/// Assignment of the positions of a sharded sequence to ranks.
enum class ContextOrder {
  Auto,     ///< Zigzag in a causal ring that supports it, else Straight.
  Straight, ///< One block per rank, in order of ranks.
  Zigzag,   ///< Two blocks per rank, at equal distances from both ends: equal work under a causal mask.
};
template <>
inline constexpr cli::Word cli::words<ContextOrder>[] = {
    {"auto", "zigzag for a causal ring that supports it, else straight"},
    {"straight", "one block of positions per rank, in order; under a causal mask the last rank has the most work"},
    {"zigzag",
     "two blocks per rank, at equal distances from both ends; all ranks have equal work under a causal mask"}};

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTMETHOD_H
