//===- Categories.h - categories of memory ----------------------*- C++ -*-===//
//
// Reports sum bytes by category.  The category of a tensor that lives across programs
// follows from its kind. The category of a transient buffer follows from the facts
// (dialects/TG/Facts.h) of the values written there, above all of the first:
//
//   inputs       arguments other than parameters and states
//   gathered     a whole parameter, made by a collective that reduces nothing
//   workspace    a rank's copy of its part of a whole parameter, and the scratch memory of
//                library calls
//   gradients    gradients of parameters
//   buckets      gradients that a collective reads and reduces into another buffer: whole
//                gradients that are not yet reduced (one that is reduced in place is a
//                gradient)
//   caches       values of earlier positions that `generate` and `decode` keep
//   activations  all other buffers, such as values that forward passes on to backward
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_CATEGORIES_H
#define BRAID_LIB_MEMORY_CATEGORIES_H

#include "dialects/TG/TG.h"
#include "lib/Memory/BufferAssignment.h"
#include <optional>

namespace braid {

/// Returns the category of a tensor that lives across programs.
exec::Category categoryOf(tg::TensorKind kind);

/// Returns the category of each storage of the program; no value for persistent ones.
std::vector<std::optional<exec::Category>> transientCategories(mlir::func::FuncOp program, const Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_CATEGORIES_H
