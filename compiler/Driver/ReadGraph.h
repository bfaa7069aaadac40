//===- ReadGraph.h - reads a graph, with a line for every op ----*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_READGRAPH_H
#define BRAID_COMPILER_DRIVER_READGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace braid {

/// Parses and verifies the main buffer of `sources`. Returns null after reporting an error. An op whose location is a
/// name (`loc("h.0.mlp")`, its place in the model) keeps this name and also gets its line, which MLIR's parser would
/// drop; errors can then show it.
mlir::OwningOpRef<mlir::ModuleOp> readGraph(const llvm::SourceMgr &sources, mlir::MLIRContext *context);

/// Returns the text of a module with locations. Locations hold the facts of ops, their names in generated code, and
/// names and lines of the graph. File names lose their folders.
std::string writeGraph(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_READGRAPH_H
