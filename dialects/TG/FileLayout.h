//===- FileLayout.h - tensors of programs and of files ----------*- C++ -*-===//
//
// A program may hold a parameter, and with it the states that belong to it, in another shape
// than files do: with the two dims of a matrix exchanged, or with one dim of files as two,
// the parts that are side by side in it and what each of them has.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_FILELAYOUT_H
#define BRAID_DIALECTS_TG_FILELAYOUT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace braid::tg {

struct FileLayout {
  bool transposed = false;
  int64_t fused = -1; ///< The first of two dims that are one in files; -1: none are.

  /// The type in files of what a program holds as `held`.
  mlir::RankedTensorType inFiles(mlir::RankedTensorType held) const;
  bool operator==(const FileLayout &) const = default;
};

/// What `#tg.param` or `#tg.state` says; that of files themselves for all else, null included.
FileLayout fileLayoutOf(mlir::Attribute paramOrState);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_FILELAYOUT_H
