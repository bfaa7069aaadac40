//===- InitialValues.cpp - initial values of tensors ----------------------===//

#include "train/InitialValues.h"

#include "base/NumberTypes.h"
#include "base/RandomNumbers.h"
#include "core/Mesh.h"
#include "core/TensorPart.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>

using namespace braid;

static RandomStream streamOf(const br_tensor &tensor, uint64_t seed) {
  return {seed, tensor.stream, tensor.init_a, tensor.init_b};
}

double braid::initialValue(const br_tensor &tensor, uint64_t seed, int64_t i) {
  switch (tensor.init) {
  case BR_INIT_ZEROS:
    return 0;
  case BR_INIT_ONES:
    return 1;
  case BR_INIT_CONSTANT:
    return tensor.init_a;
  case BR_INIT_UNIFORM:
    return uniformAt(streamOf(tensor, seed), i);
  case BR_INIT_NORMAL:
    return normalAt(streamOf(tensor, seed), i);
  }
  return 0;
}

namespace {

// Writes the elements of runs. Collects short runs, so that random floats are always drawn in large groups.
class Filler {
public:
  Filler(const br_tensor &tensor, uint64_t seed, std::byte *base)
      : tensor(tensor), seed(seed), base(base), size(elementSize(tensor.dtype)), draw(drawOf(tensor)) {}

  void add(Run run);
  void flush();

private:
  static constexpr int64_t capacity = 512;
  static_assert(capacity % drawRoom == 0);

  static DrawFunction drawOf(const br_tensor &tensor);
  void place(const Run &run, const float *values) const;

  const br_tensor &tensor;
  uint64_t seed;
  std::byte *base;
  int64_t size;
  DrawFunction draw; // null: draw one element at a time
  // Collected runs, and the logical indices of their elements.
  int64_t elements = 0, numRuns = 0;
  Run runs[capacity];
  uint64_t index[capacity];
  float drawn[capacity];
};

// Returns the kernel that draws floats of the tensor's type, or null if kernels cannot draw them.
DrawFunction Filler::drawOf(const br_tensor &tensor) {
  const RandomKernel &kernel = randomKernels().front();
  if (tensor.dtype != BR_F32 && tensor.dtype != BR_BF16)
    return nullptr;
  return tensor.init == BR_INIT_NORMAL ? kernel.normals : tensor.init == BR_INIT_UNIFORM ? kernel.uniforms : nullptr;
}

void Filler::add(Run run) {
  if (!draw) {
    for (int64_t i = 0; i < run.count; ++i)
      putNumber(tensor.dtype, base + (run.place + i * run.step) * size,
                initialValue(tensor, seed, run.otherPlace + i * run.otherStep));
    return;
  }
  while (run.count > 0) {
    Run part = run;
    part.count = std::min(run.count, capacity - elements);
    for (int64_t i = 0; i < part.count; ++i)
      index[elements + i] = static_cast<uint64_t>(run.otherPlace + i * run.otherStep);
    runs[numRuns++] = part;
    elements += part.count;
    run.place += part.count * run.step;
    run.otherPlace += part.count * run.otherStep;
    run.count -= part.count;
    if (elements == capacity)
      flush();
  }
}

void Filler::flush() {
  if (elements == 0)
    return;
  std::fill(index + elements, index + (elements + drawRoom - 1) / drawRoom * drawRoom, 0);
  draw(streamOf(tensor, seed), index, elements, drawn);
  const float *values = drawn;
  for (int64_t r = 0; r < numRuns; values += runs[r++].count)
    place(runs[r], values);
  elements = numRuns = 0;
}

void Filler::place(const Run &run, const float *values) const {
  std::byte *to = base + run.place * size;
  if (tensor.dtype == BR_F32)
    return copyElements(to, run.step, reinterpret_cast<const std::byte *>(values), 1, run.count, size);
  for (int64_t i = 0; i < run.count; ++i) {
    const uint16_t bits = toBFloat16(values[i]);
    std::memcpy(to + i * run.step * size, &bits, sizeof bits);
  }
}

// Whether every byte belongs to an element: the part has no padding and no gaps.
bool isFull(const TensorPart &part, const br_tensor &tensor) {
  int64_t elements = 1, places = 1;
  for (int i = 0; i < part.rank; ++i) {
    elements *= part.extent[i];
    places += (part.extent[i] - 1) * part.stride[i];
  }
  return places == elements && static_cast<uint64_t>(part.places() * elementSize(tensor.dtype)) == tensor.bytes;
}

// Whether the rank starts with zeros. In a partial sum, the first term holds the whole value and the others
// are zero.
bool beginsAsZeros(const br_model &model, const br_tensor &tensor, int rank) {
  return tensor.init == BR_INIT_ZEROS || placeInGroup(model, tensor.partial, rank).index > 0;
}

} // namespace

void braid::initialize(const br_model &model, const br_tensor &tensor, std::byte *memory, uint64_t seed, int threads,
                       int rank) {
  const TensorPart part = partOf(model, tensor, rank);
  const TensorPart logical = wholeTensor({tensor.shape, tensor.shape + tensor.rank});
  const bool isZero = beginsAsZeros(model, tensor, rank);
  if (isZero || !isFull(part, tensor))
    parallelZero(memory, tensor.bytes, threads);
  if (isZero)
    return;
  parallelRanges(threads, part.places(), [&](int, int64_t begin, int64_t end) {
    Filler filler(tensor, seed, memory);
    forEachRun(part, begin, end, logical, [&](const Run &run) { filler.add(run); });
    filler.flush();
  });
}

void braid::initialize(Model &model, uint64_t seed) {
  const int rank = model.rank().number;
  for (const br_tensor &tensor : tensorsOf(model.table())) {
    if (beginsAsZeros(model.table(), tensor, rank))
      model.zero(tensor);
    else
      model.onHost(tensor, Use::Write,
                   [&](std::byte *memory) { initialize(model.table(), tensor, memory, seed, model.threads(), rank); });
  }
}
