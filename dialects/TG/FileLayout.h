//===- FileLayout.h - tensor shapes in programs and files -------*- C++ -*-===//
//
// A program may hold a parameter and its optimizer states in another shape than files do.
// The two dims of a matrix may be exchanged. One dim of the files may be two dims in the
// program: the parts that lie side by side, and the size of each part.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_FILELAYOUT_H
#define BRAID_DIALECTS_TG_FILELAYOUT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace braid::tg {

struct FileLayout {
  bool transposed = false;
  int64_t fused = -1; ///< First of two dims that are one dim in files; -1 if there are none.

  /// Returns the type in files of a tensor whose type in the program is `held`.
  mlir::RankedTensorType inFiles(mlir::RankedTensorType held) const;
  bool operator==(const FileLayout &) const = default;
};

/// Returns the layout of a `#tg.param` or `#tg.state`; the identity layout for anything else, null included.
FileLayout fileLayoutOf(mlir::Attribute paramOrState);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_FILELAYOUT_H
