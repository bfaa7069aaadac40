//===- Programs.h - functions of some ranks alone ---------------*- C++ -*-===//
//
// Functions that name coordinates along an axis of one mesh make one program
// together.  Where a module has several such programs each function says by its
// entry which one it is of.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_PROGRAMS_H
#define BRAID_DIALECTS_COMM_PROGRAMS_H

#include "dialects/Comm/Mesh.h"

namespace braid::comm {

/// `comm.entry = "train"` on a function that some ranks run: what all ranks call the
/// program that it is theirs of.
inline constexpr llvm::StringLiteral kEntry = "comm.entry";

/// Of a comm.pipeline: the names of the parameters and states in the order that they have without
/// stages, which initial values depend on.
inline constexpr llvm::StringLiteral kTensorOrder = "tensor_order";

/// Of a comm.pipeline: the units of each stage, for people.
inline constexpr llvm::StringLiteral kStageUnits = "stage_units";

/// Null where there is none.
mlir::StringAttr entryOf(mlir::Operation *function);

/// The ranks that run a function or hold a tensor; null for all.
ProgramAttr someRanksOf(mlir::Operation *op);

/// The ranks of either, seen from `user`; null for all.
ProgramAttr unite(mlir::Operation *user, ProgramAttr a, ProgramAttr b);

/// Whether some rank is of both; null is all ranks.
bool shareRanks(ProgramAttr a, ProgramAttr b);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_PROGRAMS_H
