//===- Moments.cpp - convert moments in other storage types ---------------===//

#include "checkpoint/Moments.h"

#include "base/NumberTypes.h"
#include "checkpoint/PieceReader.h"
#include "checkpoint/Weights.h"
#include "core/Mesh.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace braid;

std::string braid::scalesOf(std::string_view moment) { return std::string(moment) + ".scale"; }

//===----------------------------------------------------------------------===//
// Find moments to convert
//===----------------------------------------------------------------------===//

// Returns the blocks along the one dim in which the shapes differ; nothing if `scales` is not a shape of
// scales for `codes`.
static std::optional<Blocks> blocksOfShapes(const std::vector<int64_t> &codes, const std::vector<int64_t> &scales) {
  Blocks blocks;
  if (codes.size() != scales.size())
    return std::nullopt;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == scales[i])
      continue;
    if (blocks.size || scales[i] < 1 || codes[i] % scales[i] != 0)
      return std::nullopt;
    blocks = {static_cast<int>(i), codes[i] / scales[i]};
  }
  return blocks.size ? std::optional(blocks) : std::nullopt;
}

std::optional<Blocks> braid::savedBlocks(const SavedTensors &saved, const std::string &moment) {
  const SavedTensor *tensor = saved.find(moment), *scales = saved.find(scalesOf(moment));
  if (!tensor || tensor->shape.size() > BR_MAX_RANK)
    return std::nullopt;
  if (tensor->dtype == typeName(BR_F32) || tensor->dtype == typeName(BR_BF16))
    return Blocks();
  const bool areCodes = tensor->dtype == typeName(BR_I8) && scales && scales->dtype == typeName(BR_F32);
  return areCodes ? blocksOfShapes(tensor->shape, scales->shape) : std::nullopt;
}

std::vector<ConvertedMoment> braid::findConvertedMoments(const SavedTensors &saved, const br_model &table) {
  std::set<std::string_view> masters;
  for (const br_tensor &t : tensorsOf(table))
    if (t.copy_of)
      masters.insert(t.copy_of);
  std::vector<ConvertedMoment> found;
  for (const br_tensor &t : tensorsOf(table)) {
    if (t.category != BR_OPTIMIZER_STATE || !t.checkpoint || masters.count(t.name))
      continue;
    const br_tensor *scales = t.dtype == BR_I8 ? findTensor(table, scalesOf(t.name)) : nullptr;
    std::optional<Blocks> own = scales ? blocksOfShapes(shapeOf(t), shapeOf(*scales)) : std::nullopt;
    if (t.dtype == BR_F32 || t.dtype == BR_BF16)
      own = Blocks();
    const SavedTensor *tensor = saved.find(t.name);
    if (!own || !tensor || tensor->shape != shapeOf(t))
      continue;
    const std::optional<Blocks> blocks = savedBlocks(saved, t.name);
    if (blocks && (*blocks != *own || tensor->dtype != typeName(t.dtype)))
      found.push_back({&t, scales, *blocks, *own});
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {

// A range of indices of a tensor; row-major in memory.
struct Box {
  std::vector<int64_t> begin, extent;

  TensorPart part() const {
    std::vector<int> order(extent.size());
    std::iota(order.begin(), order.end(), 0);
    return densePart(begin, extent, order);
  }
  int64_t size() const { return std::accumulate(extent.begin(), extent.end(), int64_t{1}, std::multiplies<>()); }
  void cut(int dim, int64_t from, int64_t to) { begin[dim] = from, extent[dim] = to - from; }
  int64_t end(int dim) const { return begin[dim] + extent[dim]; }

  // Returns all blocks that the box overlaps, as a box of elements (or of scales).
  Box inWholeBlocks(const Blocks &blocks) const {
    Box box = ofScales(blocks);
    if (blocks.size)
      box.cut(blocks.dim, box.begin[blocks.dim] * blocks.size, box.end(blocks.dim) * blocks.size);
    return box;
  }
  Box ofScales(const Blocks &blocks) const {
    Box box = *this;
    if (blocks.size)
      box.cut(blocks.dim, begin[blocks.dim] / blocks.size, (end(blocks.dim) + blocks.size - 1) / blocks.size);
    return box;
  }
};

// Cuts the box along the dim with the largest stride to the flat range's window.
void cutToWindow(Box &box, const TensorPart &part) {
  int major = -1;
  for (int dim = 0; dim < part.rank; ++dim)
    if (part.indices(dim) > 1 && (major < 0 || part.stride[dim] > part.stride[major]))
      major = dim;
  if (major < 0 || part.fused[major] > 1 || part.stride[major] < 1)
    return;
  int64_t inside = 0; // offset from the first to the last position of the other dims
  for (int dim = 0; dim < part.rank; ++dim)
    inside += dim == major ? 0 : std::max<int64_t>(part.indices(dim) - 1, 0) * part.stride[dim];
  const int64_t stride = part.stride[major], from = std::max<int64_t>((part.first - inside + stride - 1) / stride, 0),
                to = std::min((part.last + stride - 1) / stride, part.extent[major]);
  box.cut(major, part.begin[major] + std::min(from, to), part.begin[major] + to);
}

// Returns a box around all elements of a part.
Box boxAround(const TensorPart &part) {
  Box box;
  for (int dim = 0; dim < part.rank; ++dim) {
    box.begin.push_back(part.begin[dim]);
    box.extent.push_back(part.extent[dim] + std::max<int64_t>(part.fused[dim] - 1, 0) * part.length[dim]);
  }
  cutToWindow(box, part);
  return box;
}

Box boxAround(Box a, const Box &b) {
  for (size_t dim = 0; dim < a.begin.size(); ++dim)
    a.cut(static_cast<int>(dim), std::min(a.begin[dim], b.begin[dim]),
          std::max(a.end(static_cast<int>(dim)), b.end(static_cast<int>(dim))));
  return a;
}

// Calls f(first element, stride, number of elements, index of the scale) for the box's elements in each
// block.
template <class F> void forEachBlock(const Box &box, const Blocks &blocks, const F &f) {
  int64_t inner = 1, outer = 1;
  for (size_t dim = 0; dim < box.extent.size(); ++dim)
    (static_cast<int>(dim) < blocks.dim ? outer : inner) *= box.extent[dim];
  const int64_t begin = box.begin[blocks.dim], end = box.end(blocks.dim), rows = end - begin, step = inner / rows,
                first = begin / blocks.size, scales = (end + blocks.size - 1) / blocks.size - first;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t scale = 0; scale < scales; ++scale) {
      const int64_t from = std::max((first + scale) * blocks.size, begin),
                    to = std::min((first + scale + 1) * blocks.size, end);
      for (int64_t i = 0; i < step; ++i)
        f((o * rows + from - begin) * step + i, step, to - from, (o * scales + scale) * step + i);
    }
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

// As in tg.quantize: a code q means sign(q) q^4 times the scale.
constexpr float largestCode = 127;

float square(float x) { return x * x; }
float levelOf(float code) { return square(square(code / largestCode)); }

float numberOf(int8_t code, float scale) { return std::copysign(square(square(code)) * scale, float(code)); }

// Returns the code of the nearest number. A number other than zero never gets the code 0.
int8_t codeOf(float x, float largest) {
  const float size = std::fabs(x), part = size / largest;
  if (!(size > 0))
    return 0;
  const float below = std::fmin(std::floor(std::sqrt(std::sqrt(part)) * largestCode), largestCode - 1);
  const float fraction = (part - levelOf(below)) / (levelOf(below + 1) - levelOf(below));
  return static_cast<int8_t>(std::copysign(std::fmax(fraction > 0.5f ? below + 1 : below, 1.0f), x));
}

//===----------------------------------------------------------------------===//
// Reading and storing
//===----------------------------------------------------------------------===//

// Elements to convert at a time: 64 MiB of floats.
constexpr int64_t maxElements = 16 << 20;

class Converter {
public:
  Converter(const SavedTensors &saved, const Model &model, const ConvertedMoment &what)
      : saved(saved), model(model), what(what), part(partOf(*what.moment)) {
    if (what.scales)
      scalesPart = partOf(*what.scales);
  }
  void run();

private:
  TensorPart partOf(const br_tensor &t) const { return braid::partOf(model.table(), t, model.rank().number); }
  bool isWanted(const Box &box) const;
  void convert(const Box &box);
  void readNumbers(const Box &box);
  void storeNumbers(const Box &box) const;
  void storeCodes(const Box &box);
  template <class T> void read(const std::string &name, const Box &box, br_dtype dtype, std::vector<T> &memory);
  template <class T> void store(const br_tensor &tensor, const Box &box, const std::vector<T> &memory) const;

  const SavedTensors &saved;
  const Model &model;
  const ConvertedMoment &what;
  TensorPart part, scalesPart;
  PieceReader reader;
  std::vector<float> numbers, scales;
  std::vector<int8_t> codes;
};

template <class T>
void Converter::read(const std::string &name, const Box &box, br_dtype dtype, std::vector<T> &memory) {
  memory.assign(box.size(), T());
  const TensorPart whole = box.part();
  saved.forEachPiece(
      [&](const std::string &tensor, const TensorPart &held) { return tensor == name && partsOverlap(held, whole); },
      [&](const std::string &, const SavedTensors::Piece &piece) {
        reader.read(piece, whole, dtype, reinterpret_cast<std::byte *>(memory.data()));
      });
}

void Converter::readNumbers(const Box &box) {
  const std::string name = what.moment->name;
  if (!what.saved.size)
    return read(name, box, BR_F32, numbers);
  read(name, box, BR_I8, codes);
  read(scalesOf(name), box.ofScales(what.saved), BR_F32, scales);
  numbers.resize(codes.size());
  forEachBlock(box, what.saved, [&](int64_t first, int64_t step, int64_t count, int64_t scale) {
    for (int64_t i = first; i < first + count * step; i += step)
      numbers[i] = numberOf(codes[i], scales[scale]);
  });
}

template <class T> void Converter::store(const br_tensor &tensor, const Box &box, const std::vector<T> &memory) const {
  model.onHost(tensor, Use::Update, [&](std::byte *to) {
    copyShared(partOf(tensor), to, box.part(), reinterpret_cast<const std::byte *>(memory.data()), sizeof(T));
  });
}

void Converter::storeNumbers(const Box &box) const {
  const int64_t size = elementSize(what.moment->dtype);
  model.onHost(*what.moment, Use::Update, [&](std::byte *to) {
    forEachRun(box.part(), part, [&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i)
        putNumber(what.moment->dtype, to + (run.otherPlace + i * run.otherStep) * size,
                  numbers[run.place + i * run.step]);
    });
  });
}

void Converter::storeCodes(const Box &box) {
  codes.assign(box.size(), 0);
  const Box ofScales = box.ofScales(what.own);
  scales.assign(ofScales.size(), 0);
  forEachBlock(box, what.own, [&](int64_t first, int64_t step, int64_t count, int64_t scale) {
    float largest = 0;
    const int64_t end = first + count * step;
    for (int64_t i = first; i < end; i += step)
      if (const float size = std::fabs(numbers[i]); size > largest || std::isnan(size))
        largest = size;
    for (int64_t i = first; i < end; i += step)
      codes[i] = codeOf(numbers[i], largest);
    scales[scale] = largest / square(square(largestCode));
  });
  store(*what.moment, box, codes);
  store(*what.scales, ofScales, scales);
}

bool Converter::isWanted(const Box &box) const {
  return partsOverlap(part, box.part()) || (what.scales && partsOverlap(scalesPart, box.ofScales(what.own).part()));
}

void Converter::convert(const Box &box) {
  if (!isWanted(box))
    return;
  readNumbers(box);
  if (what.own.size)
    storeCodes(box);
  else
    storeNumbers(box);
}

// Converts in slabs of whole blocks along the first dim. Memory outside the rank's part becomes zero.
void Converter::run() {
  model.zero(*what.moment);
  Box box = boxAround(part);
  if (what.scales) {
    model.zero(*what.scales);
    Box scalesBox = boxAround(scalesPart);
    const int dim = what.own.dim;
    scalesBox.cut(dim, scalesBox.begin[dim] * what.own.size, scalesBox.end(dim) * what.own.size);
    box = boxAround(std::move(box), scalesBox);
  }
  box = box.inWholeBlocks(what.own);
  if (box.size() == 0)
    return;
  if (box.extent.empty())
    return convert(box);
  const int64_t least = what.own.dim == 0 ? std::max<int64_t>(what.own.size, 1) : 1,
                rows = std::max(maxElements / (box.size() / box.extent[0]) / least, int64_t{1}) * least;
  for (int64_t from = box.begin[0]; from < box.end(0); from += rows) {
    Box slab = box;
    slab.cut(0, from, std::min(from + rows, box.end(0)));
    convert(slab);
  }
}

} // namespace

void braid::convertMoment(const SavedTensors &saved, const Model &model, const ConvertedMoment &converted) {
  Converter(saved, model, converted).run();
}
