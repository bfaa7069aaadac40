#ifndef BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
#define BRAID_PASSES_STRATEGIES_CONTEXTWAY_H

namespace braid {

/// How positions of a sharded sequence read others.
enum class ContextWay {
  Auto,    ///< As Ulysses where heads can be shared out, else as Gather.
  Ring,    ///< Blocks of what positions read go round the ranks (Liu et al. 2023, "Ring Attention").
  Gather,  ///< By the sharding rules: the sequence is gathered where an op needs it whole.
  Ulysses, ///< Ranks exchange positions for heads (Jacobs et al. 2023, "DeepSpeed Ulysses").
};

/// Which positions of a sharded sequence a rank has.
enum class ContextOrder {
  Auto,     ///< Zigzag in a causal ring that it fits, else Straight.
  Straight, ///< One block: the first rank has the first.
  Zigzag,   ///< One of the first half, and one as far from the end: of what a causal mask leaves as much as others.
};

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
