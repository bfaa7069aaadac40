//===- Choices.h - choices of passes on collectives -------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHOICES_H
#define BRAID_PASSES_COLLECTIVES_CHOICES_H

#include "runtime/cli/Value.h"

namespace braid {

/// Algorithms of collectives: the transport's library, or messages between pairs of ranks.
enum class CollectiveAlgorithm { Library, Ring, Tree, Direct, Hierarchical };
template <>
inline constexpr cli::Word cli::words<CollectiveAlgorithm>[] = {"library", "ring", "tree", "direct", "hierarchical"};

/// Whether a bucket ends at the end of a unit. Auto: where parameters are stored in shards.
enum class BucketPerUnit { Auto, False, True };
template <> inline constexpr cli::Word cli::words<BucketPerUnit>[] = {"auto", "false", "true"};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_CHOICES_H
