//===- Interfaces.h - what passes may ask of an op --------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_INTERFACES_H
#define BRAID_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace braid {
/// One operation for each element of the results: right for elementwise ops.
int64_t defaultFlops(mlir::Operation *op);
/// The bytes of tensors of these types; other types count nothing.
int64_t bytesOf(mlir::TypeRange types);
/// The bytes one element takes in memory (i1 takes a byte).
int64_t elementBytes(mlir::Type elementType);
/// Gives the elementwise ops of arith and math their interfaces (gradients,
/// cost): every tool that differentiates calls this on its registry.
void registerUpstreamModels(mlir::DialectRegistry &registry);
} // namespace braid

#include "dialects/Interfaces/Interfaces.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_INTERFACES_H
