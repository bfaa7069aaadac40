//===- TensorPart.cpp - parts of a tensor and copies between them ---------===//

#include "core/TensorPart.h"

#include "base/Error.h"
#include "base/NumberTypes.h"
#include "core/Mesh.h"

#include <cstring>
#include <numeric>

using namespace braid;

int64_t braid::numElements(const br_tensor &tensor) {
  return std::accumulate(tensor.shape, tensor.shape + tensor.rank, int64_t{1}, std::multiplies<>());
}

//===----------------------------------------------------------------------===//
// Making parts
//===----------------------------------------------------------------------===//

static void setDenseStrides(TensorPart &part, const std::vector<int> &order) {
  part.first = 0, part.last = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    part.stride[*dim] = part.last;
    part.last *= part.indices(*dim);
  }
}

TensorPart braid::densePart(const std::vector<int64_t> &begin, const std::vector<int64_t> &extent,
                            const std::vector<int> &order) {
  TensorPart part;
  part.rank = static_cast<int>(extent.size());
  std::copy(begin.begin(), begin.end(), part.begin.begin());
  std::copy(extent.begin(), extent.end(), part.extent.begin());
  setDenseStrides(part, order);
  return part;
}

static std::vector<int> rowMajor(size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TensorPart braid::wholeTensor(const std::vector<int64_t> &shape) {
  return densePart(std::vector<int64_t>(shape.size()), shape, rowMajor(shape.size()));
}

std::vector<int> braid::flatOrder(const br_tensor &tensor) {
  std::vector<int> order = rowMajor(tensor.rank);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return tensor.stride[a] > tensor.stride[b]; });
  return order;
}

// Returns the block that a rank holds, dense in the given order of dims.
static TensorPart blockOf(const br_model &model, const char *name, int rank, int32_t dims, const int64_t *shape,
                          const int32_t *groups, const int32_t *fused, const std::vector<int> &order) {
  TensorPart part;
  part.rank = dims;
  for (int32_t i = 0; i < dims; ++i) {
    GroupPlace place = placeInGroup(model, groups[i], rank);
    const int64_t parts = fused && place.size > 1 ? std::max(fused[i], 1) : 1;
    if (shape[i] % (parts * place.size) != 0)
      fail("the compiled model is broken: dim ", i, " of '", name, "' has ", shape[i], " elements in ", parts,
           " parts, which ", place.size, " ranks cannot share; compile it again");
    part.extent[i] = shape[i] / parts / place.size;
    part.begin[i] = place.index * part.extent[i];
    if (parts > 1)
      part.fused[i] = parts, part.length[i] = shape[i] / parts;
  }
  setDenseStrides(part, order);
  return part;
}

// Narrows a dense block to the rank's flat range.
static TensorPart flatRange(TensorPart part, GroupPlace place) {
  const int64_t count = part.last, perRank = (count + place.size - 1) / place.size;
  part.first = std::min(place.index * perRank, count);
  part.last = std::min(part.first + perRank, count);
  return part;
}

static TensorPart fitting(TensorPart part, const char *name, br_dtype dtype, uint64_t bytes) {
  uint64_t needed = static_cast<uint64_t>(part.places() * elementSize(dtype));
  if (needed > bytes)
    fail("the compiled model is broken: a rank's part of '", name, "' takes ", needed, " bytes, but is given ", bytes,
         "; compile it again");
  return part;
}

TensorPart braid::partOf(const br_model &model, const br_tensor &t, int rank) {
  GroupPlace flat = placeInGroup(model, t.flat, rank);
  TensorPart part = blockOf(model, t.name, rank, t.rank, t.shape, t.dims, t.fused, flatOrder(t));
  if (flat.size > 1)
    return fitting(flatRange(part, flat), t.name, t.dtype, t.bytes);
  if (part.last == 0)
    return part;
  part.last = 1;
  for (int32_t i = 0; i < t.rank; ++i) {
    part.stride[i] = t.stride[i];
    part.last += (part.indices(i) - 1) * t.stride[i];
  }
  return fitting(part, t.name, t.dtype, t.bytes);
}

TensorPart braid::partOf(const br_model &model, const br_io &io, int rank) {
  TensorPart block = blockOf(model, io.name, rank, io.rank, io.shape, io.dims, nullptr, rowMajor(io.rank));
  return fitting(flatRange(block, placeInGroup(model, io.flat, rank)), io.name, io.dtype, io.bytes);
}

TensorPart braid::savedPartOf(const br_model &model, const br_tensor &t, int rank) {
  GroupPlace flat = placeInGroup(model, t.flat, rank);
  if (flat.size > 1)
    return partOf(model, t, rank);
  return blockOf(model, t.name, rank, t.rank, t.shape, t.dims, t.fused, rowMajor(t.rank));
}

bool braid::isFirstHolder(const br_model &model, const br_tensor &t, int rank) {
  std::vector<bool> shards(model.n_axes, false);
  auto note = [&](int32_t group) {
    for (int32_t i = 0; group != 0 && i < model.groups[group].n_axes; ++i)
      shards[model.groups[group].axes[i]] = true;
  };
  for (int32_t i = 0; i < t.rank; ++i)
    note(t.dims[i]);
  note(t.flat);
  // Among the ranks that differ only in the other axes, the lowest is at their origin.
  for (int32_t axis = model.n_axes - 1; axis >= 0; --axis) {
    const int32_t origin = t.at_axis == axis + 1 ? t.at : 0;
    if (!shards[axis] && rank % model.mesh[axis].size != origin)
      return false;
    rank /= model.mesh[axis].size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Walking over shared elements
//===----------------------------------------------------------------------===//

namespace {

// The shared indices of two parts in one dim: `parts` boxes of equal size.
struct CommonDim {
  int64_t count, stride[2], start[2];
  int64_t parts = 1, partStride[2] = {0, 0};
};

// Returns the box of indices [from, to) of the whole dim; number[side] is the fused part on each
// side.
CommonDim boxOf(const TensorPart *const (&parts)[2], int dim, int64_t from, int64_t to, const int64_t (&number)[2]) {
  CommonDim box{to - from, {}, {}};
  for (int side : {0, 1}) {
    const TensorPart &part = *parts[side];
    const int64_t begin = number[side] * part.length[dim] + part.begin[dim];
    box.stride[side] = part.stride[dim];
    box.start[side] = (number[side] * part.extent[dim] + from - begin) * part.stride[dim];
  }
  return box;
}

// Returns the boxes of indices that two parts share in a dim.  There is one box if both have the
// same fused parts, or if one of them has the whole dim; otherwise one for each pair of fused
// parts.
std::vector<CommonDim> commonDims(const TensorPart &by, const TensorPart &other, int dim) {
  const TensorPart *const parts[2] = {&by, &other};
  const int64_t fused[2] = {std::max<int64_t>(by.fused[dim], 1), std::max<int64_t>(other.fused[dim], 1)};
  const int divided = fused[0] > 1 ? 0 : 1;
  const TensorPart &one = *parts[divided], &two = *parts[1 - divided];
  const bool areAlike = fused[0] == fused[1] && by.length[dim] == other.length[dim];
  const bool isWhole =
      fused[1 - divided] == 1 && two.begin[dim] == 0 && two.extent[dim] == fused[divided] * one.length[dim];
  std::vector<CommonDim> boxes;
  auto add = [&](int64_t number, int64_t otherNumber) {
    const int64_t numbers[2] = {number, otherNumber};
    int64_t from = 0, to = std::numeric_limits<int64_t>::max();
    for (int side : {0, 1}) {
      const int64_t begin = numbers[side] * parts[side]->length[dim] + parts[side]->begin[dim];
      from = std::max(from, begin), to = std::min(to, begin + parts[side]->extent[dim]);
    }
    if (from < to)
      boxes.push_back(boxOf(parts, dim, from, to, numbers));
  };
  if (!areAlike && !isWhole) {
    for (int64_t i = 0; i < fused[0]; ++i)
      for (int64_t j = 0; j < fused[1]; ++j)
        add(i, j);
    return boxes;
  }
  add(0, 0);
  if (boxes.empty() || fused[divided] == 1)
    return boxes;
  boxes[0].parts = fused[divided];
  for (int side : {0, 1}) {
    const TensorPart &part = *parts[side];
    boxes[0].partStride[side] = part.stride[dim] * (part.fused[dim] > 1 ? part.extent[dim] : one.length[dim]);
  }
  return boxes;
}

// Joins dims from the inside out, and computes the reach of the dims inside each.
void joinDims(detail::Walk &walk) {
  using detail::Walk;
  if (walk.dims.empty())
    walk.dims.push_back({1, {1, 1}, {0, 0}});
  std::stable_sort(walk.dims.begin(), walk.dims.end(),
                   [](const Walk::Dim &a, const Walk::Dim &b) { return a.stride[0] > b.stride[0]; });
  std::vector<Walk::Dim> joined;
  for (auto dim = walk.dims.rbegin(); dim != walk.dims.rend(); ++dim) {
    Walk::Dim *inner = joined.empty() ? nullptr : &joined.back();
    if (inner && dim->stride[0] == inner->stride[0] * inner->count &&
        dim->stride[1] == inner->stride[1] * inner->count) {
      inner->count *= dim->count;
      continue;
    }
    for (int side : {0, 1})
      dim->reach[side] = inner ? inner->reach[side] + (inner->count - 1) * inner->stride[side] : 0;
    joined.push_back(*dim);
  }
  std::reverse(joined.begin(), joined.end());
  walk.dims = std::move(joined);
}

} // namespace

std::vector<detail::Walk> detail::planWalks(const TensorPart &by, int64_t begin, int64_t end, const TensorPart &other) {
  std::vector<Walk> walks{{{},
                           {0, 0},
                           {by.first + begin, other.first},
                           {std::min(by.last, by.first + end), other.last},
                           {by.first, other.first}}};
  for (int i = 0; i < by.rank; ++i) {
    std::vector<Walk> next;
    for (const CommonDim &box : commonDims(by, other, i))
      for (Walk walk : walks) {
        for (int side : {0, 1})
          walk.start[side] += box.start[side];
        if (box.parts > 1)
          walk.dims.push_back({box.parts, {box.partStride[0], box.partStride[1]}, {0, 0}});
        if (box.count > 1)
          walk.dims.push_back({box.count, {box.stride[0], box.stride[1]}, {0, 0}});
        next.push_back(std::move(walk));
      }
    walks = std::move(next);
  }
  for (Walk &walk : walks)
    joinDims(walk);
  return walks;
}

bool braid::partsOverlap(const TensorPart &a, const TensorPart &b) {
  bool any = false;
  forEachRun(a, b, [&](const Run &) { any = true; });
  return any;
}

namespace {

// Calls f with an unsigned integer of `size` bytes.
template <class F> void withWord(int64_t size, const F &f) {
  switch (size) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

// Copies `rows` runs of this shape, each one row step after the previous.
template <class Word>
void copyRows(Run run, int64_t rows, int64_t rowStep, int64_t otherRowStep, const std::byte *from, std::byte *to) {
  constexpr int64_t size = sizeof(Word);
  from += run.place * size;
  to += run.otherPlace * size;
  for (int64_t i = 0; i < run.count; ++i)
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(to + (i * run.otherStep + row * otherRowStep) * size, from + (i * run.step + row * rowStep) * size,
                  size);
}

// Rows to copy together: a cache line has 16 words of four bytes, so each line is read and written
// once.
constexpr size_t rowsTogether = 16;

// Returns how many of the first runs are rows of one shape.
size_t countRows(std::span<const Run> runs) {
  const Run &first = runs[0];
  if (runs.size() < 2 || first.count == 1 || (first.step == 1 && first.otherStep == 1))
    return 1;
  size_t rows = 1;
  for (; rows < std::min(runs.size(), rowsTogether); ++rows) {
    const Run &run = runs[rows];
    const int64_t number = static_cast<int64_t>(rows);
    if (run.count != first.count || run.step != first.step || run.otherStep != first.otherStep ||
        run.place - first.place != number * (runs[1].place - first.place) ||
        run.otherPlace - first.otherPlace != number * (runs[1].otherPlace - first.otherPlace))
      break;
  }
  return rows;
}

} // namespace

void braid::copyElements(std::byte *to, int64_t toStep, const std::byte *from, int64_t fromStep, int64_t count,
                         int64_t size) {
  if (count == 1 || (toStep == 1 && fromStep == 1)) {
    std::memcpy(to, from, count * size);
    return;
  }
  withWord(size, [&](auto word) { copyRows<decltype(word)>({0, fromStep, 0, toStep, count}, 1, 0, 0, from, to); });
}

void braid::copyRuns(std::span<const Run> runs, const std::byte *from, std::byte *to, int64_t size) {
  while (!runs.empty()) {
    const Run &run = runs[0];
    const size_t rows = countRows(runs);
    if (rows == 1)
      copyElements(to + run.otherPlace * size, run.otherStep, from + run.place * size, run.step, run.count, size);
    else
      withWord(size, [&](auto word) {
        copyRows<decltype(word)>(run, static_cast<int64_t>(rows), runs[1].place - run.place,
                                 runs[1].otherPlace - run.otherPlace, from, to);
      });
    runs = runs.subspan(rows);
  }
}

void braid::copyShared(const TensorPart &to, std::byte *toMemory, const TensorPart &from, const std::byte *fromMemory,
                       int64_t size) {
  forEachRun(to, from, [&](const Run &run) {
    copyElements(toMemory + run.place * size, run.step, fromMemory + run.otherPlace * size, run.otherStep, run.count,
                 size);
  });
}
