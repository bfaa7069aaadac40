//===- Passes.h - passes on collectives -------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_PASSES_H
#define BRAID_PASSES_COLLECTIVES_PASSES_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Base/OptionTypes.h"
#include "runtime/cli/Value.h"

namespace braid {

/// Algorithms of collectives: the transport's library, or messages between pairs of ranks.
enum class CollectiveAlgorithm { Library, Ring, Tree, Direct, Hierarchical };
template <>
inline constexpr cli::Word cli::words<CollectiveAlgorithm>[] = {"library", "ring", "tree", "direct", "hierarchical"};

/// Whether a bucket ends at the end of a unit. Auto: where parameters are stored in shards.
enum class BucketPerUnit { Auto, False, True };
template <> inline constexpr cli::Word cli::words<BucketPerUnit>[] = {"auto", "false", "true"};

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Collectives/Passes.h.inc"
} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_PASSES_H

// A pass defines GEN_PASS_DEF_NAME before it includes this header, for its base class.
namespace braid {
#include "passes/Collectives/Passes.h.inc"
} // namespace braid
