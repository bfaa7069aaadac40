//===- Categories.h - what memory is for ------------------------*- C++ -*-===//
//
// Reports sum bytes by category.  That of a tensor that lives across programs follows
// from its kind, that of a transient buffer from the facts (dialects/TG/Facts.h) of what
// is written there, above all first:
//
//   inputs       arguments other than parameters and states
//   gathered     a parameter in its whole size, by a collective that combines nothing
//   workspace    a rank's copy of its part of a whole parameter, beside the scratch
//                memory of library calls
//   gradients    gradients of parameters
//   buckets      of these, what a collective reads and reduces to somewhere else: full
//                gradients that are not yet reduced (one that is reduced in place is
//                a gradient)
//   caches       what `generate` and `decode` keep of earlier positions
//   activations  the rest: what forward and backward pass on
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_CATEGORIES_H
#define BRAID_LIB_MEMORY_CATEGORIES_H

#include "dialects/TG/TG.h"
#include "lib/Memory/BufferAssignment.h"
#include <optional>

namespace braid {

/// That of a tensor that lives across programs.
exec::Category categoryOf(tg::TensorKind kind);

/// One for each storage of the program; none for persistent ones.
std::vector<std::optional<exec::Category>> transientCategories(mlir::func::FuncOp program, const Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_CATEGORIES_H
