#ifndef BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
#define BRAID_PASSES_STRATEGIES_CONTEXTWAY_H

namespace braid {

/// How positions of a sharded sequence read others.
enum class ContextWay {
  Auto,    ///< What sends fewer bytes, where heads can be shared out.
  Gather,  ///< Each rank gathers what its positions read.
  Ulysses, ///< Ranks exchange positions for heads (Jacobs et al. 2023, "DeepSpeed Ulysses").
};

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_CONTEXTWAY_H
