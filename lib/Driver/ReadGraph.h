//===- ReadGraph.h - a graph's text with a line for every op ----*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_READGRAPH_H
#define BRAID_LIB_DRIVER_READGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace braid {

/// Parses and verifies the main buffer of `sources`; null when that failed, which
/// has then been said.  An op whose text ends in a name as its location
/// (`loc("h.0.mlp")`, its place in the model) keeps the name and also gets its line,
/// which MLIR's parser would leave out, so that errors can show it.
mlir::OwningOpRef<mlir::ModuleOp> readGraph(const llvm::SourceMgr &sources, mlir::MLIRContext *context);

/// The text of a module with its locations: they hold the facts of ops and what generated code calls them, names and
/// lines of the graph.  Files lose their folders.
std::string writeGraph(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_DRIVER_READGRAPH_H
