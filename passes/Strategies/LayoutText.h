//===- LayoutText.h - text of a chosen layout -------------------*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H
#define BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H

#include "dialects/Comm/Comm.h"
#include <string>

namespace braid {

/// Returns the comm-annotate statements with which `axes` shard one dim of each parameter, in the layout of files. One
/// statement covers all layers: `h.*.a: {tp} {}; h.*.b: {} {tp}`.
std::string layoutText(llvm::ArrayRef<std::pair<mlir::BlockArgument, int64_t>> sharded, comm::AxesAttr axes);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H
