//===- TensorPart.h - parts of a tensor and copies between them -----------===//
//
// A tensor is stored in parts: in the arenas of ranks, and in the files of a checkpoint.  A part is
// a box of the tensor's indices with a stride for each dim, and a window of the positions that
// these strides give; positions outside the window are stored elsewhere.  In a dim with several
// fused parts, the box repeats in each of them.  So a whole tensor, a block, a transposed block and
// a flat range are all parts.  Copying, loading, saving and comparing are one or a few walks over
// the elements that two parts share.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_TENSORPART_H
#define BRAID_CORE_TENSORPART_H

#include "braid_rt.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace braid {

// Element x of the tensor is in the part if begin <= x < begin + extent in every dim, and its
// position, the sum of (x - begin) * stride, is in [first, last).  Its place in the part's memory
// is position - first.
//
// A dim with `fused` above 1 has that many fused parts of `length` indices each.  There x counts
// from the start of its fused part, and position grows by extent * stride from one fused part to
// the next.
struct TensorPart {
  using Dims = std::array<int64_t, BR_MAX_RANK>;
  int rank = 0; // number of dims
  Dims begin{}, extent{}, stride{};
  Dims fused{}, length{}; // 0: the dim is not fused
  int64_t first = 0, last = 0;

  int64_t places() const { return last - first; }
  // Number of indices of a dim, over all its fused parts.
  int64_t indices(int dim) const { return extent[dim] * std::max<int64_t>(fused[dim], 1); }
};

int64_t numElements(const br_tensor &tensor);

// The whole tensor, row-major.
TensorPart wholeTensor(const std::vector<int64_t> &shape);
// A box of a tensor, dense in the given order of dims, major first.
TensorPart densePart(const std::vector<int64_t> &begin, const std::vector<int64_t> &extent,
                     const std::vector<int> &order);

// Returns a rank's part, with the layout of its arena.  Throws Error if the tables contradict each
// other.
TensorPart partOf(const br_model &model, const br_tensor &tensor, int rank);
TensorPart partOf(const br_model &model, const br_io &io, int rank);
// Returns the same elements without gaps: a flat range unchanged, a block row-major.
TensorPart savedPartOf(const br_model &model, const br_tensor &tensor, int rank);
// Returns the dims of a flat tensor, the largest stride first.
std::vector<int> flatOrder(const br_tensor &tensor);

// Whether no lower rank holds the same part.  (Two ranks hold the same elements, or none in
// common.)
bool isFirstHolder(const br_model &model, const br_tensor &tensor, int rank);

// `count` elements that two parts share, at a step in the memory of each.
struct Run {
  int64_t place, step, otherPlace, otherStep, count;
};

namespace detail {
// The dims to walk, major first in the walk's order, without dims of one element; adjacent dims are
// joined if both parts allow it.  Index 0 is the part that gives the order, 1 the other.
struct Walk {
  struct Dim {
    int64_t count, stride[2];
    int64_t reach[2]; // distance from the first to the last position of the dims inside
  };
  std::vector<Dim> dims;
  int64_t start[2], low[2], high[2], origin[2];
};
std::vector<Walk> planWalks(const TensorPart &by, int64_t begin, int64_t end, const TensorPart &other);

// Narrows [from, to) to the indices of a dim, from a position on, for which an element inside may
// lie in the window.
inline void clip(const Walk &walk, const Walk::Dim &dim, int side, int64_t position, int64_t &from, int64_t &to) {
  const int64_t stride = dim.stride[side], below = walk.low[side] - position - dim.reach[side],
                above = walk.high[side] - position;
  if (below > from * stride)
    from = (below + stride - 1) / stride;
  if (above <= (to - 1) * stride)
    to = above > 0 ? (above + stride - 1) / stride : 0;
}

template <class F> void walkDim(const Walk &walk, size_t d, int64_t position, int64_t otherPosition, const F &f) {
  const Walk::Dim &dim = walk.dims[d];
  int64_t from = 0, to = dim.count;
  clip(walk, dim, 0, position, from, to);
  clip(walk, dim, 1, otherPosition, from, to);
  if (from >= to)
    return;
  position += from * dim.stride[0];
  otherPosition += from * dim.stride[1];
  if (d + 1 == walk.dims.size())
    return f(Run{position - walk.origin[0], dim.stride[0], otherPosition - walk.origin[1], dim.stride[1], to - from});
  for (int64_t i = from; i < to; ++i, position += dim.stride[0], otherPosition += dim.stride[1])
    walkDim(walk, d + 1, position, otherPosition, f);
}
} // namespace detail

// Calls f(Run) for the elements in both parts at places [begin, end) of `by`, in the order of
// `by`'s memory.  If only one part has fused parts in a dim, and holds only some of the dim's
// indices, the order restarts with each fused part.
template <class F>
void forEachRun(const TensorPart &by, int64_t begin, int64_t end, const TensorPart &other, const F &f) {
  for (const detail::Walk &walk : detail::planWalks(by, begin, end, other))
    detail::walkDim(walk, 0, walk.start[0], walk.start[1], f);
}
template <class F> void forEachRun(const TensorPart &by, const TensorPart &other, const F &f) {
  forEachRun(by, 0, by.places(), other, f);
}

// Whether the two parts share any element.
bool partsOverlap(const TensorPart &a, const TensorPart &b);

// Copies `count` elements of `size` bytes; steps are in elements.
void copyElements(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep, int64_t count, int64_t size);

// Copies runs from the memory of `place` to the memory of `otherPlace`.  Adjacent runs of a
// transposed tensor are copied together.
void copyRuns(std::span<const Run> runs, const std::byte *from, std::byte *to, int64_t size);

// Copies the elements that two parts share from one memory to the other.
void copyShared(const TensorPart &to, std::byte *toMemory, const TensorPart &from, const std::byte *fromMemory,
                int64_t size);

} // namespace braid
#endif // BRAID_CORE_TENSORPART_H
