//===- Known.h - values that a model computes without its inputs -*- C++ -*-===//
//
// Frameworks spell out masks, positions and tables of rotations as arithmetic on constants. An importer evaluates that
// arithmetic, so that it can recognize the values however they are spelled:
//
//   Affine    32-bit integers; an element is a constant plus a multiple of each index: arange, positions
//   Band      booleans; an element is true where several affine functions are all at least 0: masks
//   Dense     numbers one by one: tables of rotations, buffers of a model
//
// Affine functions and bands need no memory for their elements, so a mask of 10^5 x 10^5 costs nothing. An evaluation
// that leaves these forms returns nothing, and the importer builds the op instead.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_KNOWN_H
#define BRAID_LIB_IMPORT_KNOWN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace braid {

using Shape = llvm::SmallVector<int64_t>;

/// constant + sum over dims of factors[dim] * index[dim]. The factor of a dim of size 1 is 0.
struct Affine {
  llvm::SmallVector<int64_t> factors;
  int64_t constant = 0;

  bool isConstant() const;
  friend bool operator==(const Affine &, const Affine &) = default;
};

/// The conjunction of `term >= 0` for all terms; without terms, true. No term is a constant, unless the band is false
/// everywhere: its only term is then -1.
struct Band {
  llvm::SmallVector<Affine> terms;
};

struct Dense {
  std::shared_ptr<const std::vector<double>> numbers;
};

/// A tensor whose elements are known.
struct Known {
  Shape shape;
  std::variant<Affine, Band, Dense> value;

  const Affine *affine() const { return std::get_if<Affine>(&value); }
  const Band *band() const { return std::get_if<Band>(&value); }
  /// Returns the numbers one by one, or nothing if there are too many.
  std::optional<std::vector<double>> numbers() const;
  /// Returns the number that all elements equal, if one is known to.
  std::optional<double> splat() const;
};

using MaybeKnown = std::optional<Known>;

/// Integers that change at few values of one affine function: `first`, and from each bound on another value.
struct Steps {
  Affine position;
  int64_t first = 0;
  /// Bounds, rising, and the value from there on.
  llvm::SmallVector<std::pair<int64_t, int64_t>> changes;
};

namespace known {
Known constant(llvm::ArrayRef<int64_t> shape, int64_t value);
Known boolean(llvm::ArrayRef<int64_t> shape, bool value);
/// Returns start, start + step, ..., or nothing if one of these is no 32-bit integer.
MaybeKnown range(int64_t count, int64_t start, int64_t step);
MaybeKnown dense(llvm::ArrayRef<int64_t> shape, std::vector<double> numbers);

// Movement. The arguments must fit the shape.
MaybeKnown reshape(const Known &a, llvm::ArrayRef<int64_t> shape);
Known transpose(const Known &a, llvm::ArrayRef<int64_t> permutation);
/// Repeats `a` to `shape`, with its dims aligned to the last dims of `shape`.
MaybeKnown broadcast(const Known &a, llvm::ArrayRef<int64_t> shape);
Known slice(const Known &a, int64_t dim, int64_t offset, int64_t size, int64_t stride);
MaybeKnown concat(llvm::ArrayRef<Known> parts, int64_t dim);
/// Returns a[indices[0], indices[1], ...]; the dims of `a` behind the indices come last.
MaybeKnown index(const Known &a, llvm::ArrayRef<Known> indices, llvm::ArrayRef<int64_t> shape);

// Integers and booleans, of equal shapes.
MaybeKnown add(const Known &a, const Known &b, int64_t factor);
MaybeKnown multiply(const Known &a, const Known &b);
/// Where a - b >= least.
MaybeKnown isAtLeast(const Known &a, const Known &b, int64_t least);
MaybeKnown isEqual(const Known &a, const Known &b);
MaybeKnown logicalAnd(const Known &a, const Known &b);
MaybeKnown logicalOr(const Known &a, const Known &b);
MaybeKnown logicalNot(const Known &a);
/// Differences of neighbors along `dim`, after `before` was put in front of it.
MaybeKnown difference(const Known &a, const Known *before, int64_t dim);
MaybeKnown runningSum(const Known &a, int64_t dim);

/// Returns integers in affine form if they have it, or else `a`.
Known simplified(const Known &a);
/// Returns dense integers as steps with at most `maxChanges` changes, along a dim or along a sum or difference of two.
std::optional<Steps> stepsOf(const Known &a, size_t maxChanges);

/// Applies a function to each number; `round` rounds a result to the element type.
MaybeKnown map(const Known &a, llvm::function_ref<double(double)> function);
MaybeKnown map(const Known &a, const Known &b, llvm::function_ref<double(double, double)> function);
} // namespace known

} // namespace braid

#endif // BRAID_LIB_IMPORT_KNOWN_H
