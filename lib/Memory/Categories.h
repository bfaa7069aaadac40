//===- Categories.h - what memory is for ------------------------*- C++ -*-===//
//
// Reports sum bytes by category.  That of a tensor that lives across programs follows
// from its kind.  The rule for transient buffers, decided by the action that writes
// them first:
//
//   inputs       arguments other than parameters and states
//   gathered     written by a collective that combines nothing, from values that
//                depend on parameters alone: a parameter in its whole size
//   workspace    a rank's copy of its part of a whole parameter, beside the scratch
//                memory of library calls
//   gradients    what updates a parameter, or is added to what does, element for
//                element, and is not written by the forward pass
//   buckets      of these, what a collective reads and reduces to somewhere else: full
//                gradients that are not yet reduced (one that is reduced in place is
//                a gradient)
//   activations  the rest: what forward (lib/Schedule/Forward.h) and backward pass on;
//                all of a program that does not train
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
