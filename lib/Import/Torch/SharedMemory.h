//===- SharedMemory.h - tensors that share memory in PyTorch ----*- C++ -*-===//
//
// A graph has values and no memory. Where a program overwrites a tensor, names of that tensor stand for the new value.
// A view of it would change, too: such a view is stale, and a later use of it is an error. A write through a slice or a
// reshape is a new value of the tensor behind the view.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_SHAREDMEMORY_H
#define BRAID_LIB_IMPORT_TORCH_SHAREDMEMORY_H

#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace braid::torch {

/// A part of a tensor: `size` indices of `dim`, `stride` apart.
struct SliceRange {
  int64_t dim, offset, size, stride;
};

/// How a tensor is a view of another.
struct View {
  std::string base;
  /// The part of the base that is viewed. The base's elements in another shape if there is none.
  std::optional<SliceRange> part;
  /// Whether a write through the view can be followed to the base.
  bool isFollowed = false;
};

class SharedMemory {
public:
  /// Returns the name under which a tensor's value is kept.
  llvm::StringRef canonical(llvm::StringRef name) const;
  void addView(llvm::StringRef name, View view);
  /// Returns how a tensor is a view, or null.
  const View *viewOf(llvm::StringRef name) const;
  /// Returns the tensor that has all elements that `name` is a view of.
  llvm::StringRef rootOf(llvm::StringRef name) const;
  /// Notes that `op` overwrote `target`, and that `result` names the same tensor, or another view of it.
  void overwrite(llvm::StringRef target, llvm::StringRef result, bool isSameTensor, llvm::StringRef op);
  /// Returns the op that has overwritten a tensor's memory through another tensor, or nothing.
  llvm::StringRef overwrittenBy(llvm::StringRef name) const;

private:
  llvm::StringMap<std::string> sameAs;
  llvm::StringMap<View> views;
  llvm::StringMap<std::string> stale;
};

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_SHAREDMEMORY_H
