//===- LayoutText.h - what was chosen, as a layout says it ------*- C++ -*-===//
#ifndef BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H
#define BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H

#include "dialects/Comm/Comm.h"
#include <string>

namespace braid {

/// The statements of comm-annotate by which `axes` shard a dim of each parameter, as files hold it, one
/// for all layers: `h.*.a: {tp} {}; h.*.b: {} {tp}`.
std::string layoutText(llvm::ArrayRef<std::pair<mlir::BlockArgument, int64_t>> sharded, comm::AxesAttr axes);

} // namespace braid

#endif // BRAID_PASSES_STRATEGIES_LAYOUTTEXT_H
