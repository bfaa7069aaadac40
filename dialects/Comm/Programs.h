//===- Programs.h - functions that only some ranks run ----------*- C++ -*-===//
//
// Functions that name coordinates along the same axis of one mesh form one program. If a
// module has several such programs, the entry attribute of each function names its program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_PROGRAMS_H
#define BRAID_DIALECTS_COMM_PROGRAMS_H

#include "dialects/Comm/Mesh.h"

namespace braid::comm {

/// Entry attribute `comm.entry = "train"` of a function that only some ranks run: the
/// name of its program, which is common to all ranks.
inline constexpr llvm::StringLiteral kEntry = "comm.entry";

/// Attribute of comm.pipeline: names of the parameters and states in their order without stages,
/// on which the initial values depend.
inline constexpr llvm::StringLiteral kTensorOrder = "tensor_order";

/// Attribute of comm.pipeline: the units of each stage, as text for reports.
inline constexpr llvm::StringLiteral kStageUnits = "stage_units";

/// Returns the entry attribute of a function, or null.
mlir::StringAttr entryOf(mlir::Operation *function);

/// Returns the ranks that run a function or hold a tensor; null for all.
ProgramAttr rankSubsetOf(mlir::Operation *op);

/// Returns the union of two sets of ranks, seen from `user`; null for all.
ProgramAttr unionOf(mlir::Operation *user, ProgramAttr a, ProgramAttr b);

/// Returns whether some rank is in both sets; null means all ranks.
bool shareRanks(ProgramAttr a, ProgramAttr b);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_PROGRAMS_H
