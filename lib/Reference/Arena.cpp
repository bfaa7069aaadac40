//===- Arena.cpp - memory that knows what was written to it ---------------===//

#include "lib/Reference/Arena.h"
#include "llvm/ADT/DenseSet.h"
#include <bit>
#include <cstring>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Elements as bytes
//===----------------------------------------------------------------------===//

template <typename T> static T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T> static void store(uint8_t *bytes, T value) { std::memcpy(bytes, &value, sizeof(T)); }

static Element loadElement(Type type, const uint8_t *bytes) {
  if (type.isF64())
    return ofFloat(load<double>(bytes));
  if (type.isF32())
    return ofFloat(load<float>(bytes));
  if (type.isBF16())
    return ofFloat(std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(bytes)) << 16));
  switch (elementBytes(type)) {
  case 8:
    return ofInt(load<int64_t>(bytes));
  case 4:
    return ofInt(load<int32_t>(bytes));
  default:
    return ofInt(wrapTo(type, load<int8_t>(bytes)));
  }
}

static void storeElement(Type type, uint8_t *bytes, Element element) {
  if (type.isF64())
    return store<double>(bytes, element.f);
  if (type.isF32())
    return store<float>(bytes, static_cast<float>(element.f));
  if (type.isBF16()) {
    float rounded = static_cast<float>(roundTo(type, element.f));
    return store<uint16_t>(bytes, std::bit_cast<uint32_t>(rounded) >> 16);
  }
  switch (elementBytes(type)) {
  case 8:
    return store<int64_t>(bytes, element.i);
  case 4:
    return store<int32_t>(bytes, static_cast<int32_t>(element.i));
  default:
    return store<int8_t>(bytes, static_cast<int8_t>(element.i));
  }
}

Tensor braid::reference::tensorOfBytes(RankedTensorType type, StringRef bytes) {
  Tensor result(type);
  int64_t width = elementBytes(result.elementType);
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = loadElement(result.elementType, reinterpret_cast<const uint8_t *>(bytes.data()) + i * width);
  return result;
}

void braid::reference::appendBytes(const Tensor &tensor, std::string &bytes) {
  int64_t width = elementBytes(tensor.elementType), begin = bytes.size();
  bytes.resize(begin + width * tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    storeElement(tensor.elementType, reinterpret_cast<uint8_t *>(bytes.data()) + begin + i * width, tensor[i]);
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

Arena::Arena(int64_t size) : bytes(size), owners(size, kNobody), touched(size / kBlock + 1, false) { poison(0, size); }

void Arena::poison(int64_t offset, int64_t count) {
  for (int64_t i = offset; i < offset + count; ++i)
    bytes[i] = poisonByte(i);
  std::fill_n(owners.begin() + offset, count, kNobody);
  for (int64_t block = (offset + kBlock - 1) / kBlock; (block + 1) * kBlock <= offset + count; ++block)
    touched[block] = false;
}

void Arena::poisonWritten(int64_t offset, int64_t count) {
  int64_t end = offset + count;
  for (int64_t block = offset / kBlock; block * kBlock < end; ++block) {
    int64_t begin = std::max(offset, block * kBlock);
    if (touched[block])
      poison(begin, std::min(end, (block + 1) * kBlock) - begin);
  }
}

void Arena::reserve(const Place &place) {
  int64_t width = elementBytes(place.type.getElementType());
  forEachIndex(place.type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t begin = byteOf(place, index);
    poison(begin, width);
    std::fill_n(owners.begin() + begin, width, kReserved);
    touched[begin / kBlock] = touched[(begin + width - 1) / kBlock] = true;
  });
}

int64_t Arena::byteOf(const Place &place, ArrayRef<int64_t> index) {
  int64_t elements = 0;
  for (size_t d = 0; d < index.size(); ++d)
    elements += index[d] * place.type.getStrides()[d];
  return place.offset + elements * elementBytes(place.type.getElementType());
}

std::optional<Arena::Stranger> Arena::findStranger(const Place &place) const {
  int64_t width = elementBytes(place.type.getElementType());
  std::optional<Stranger> found;
  forEachIndex(place.type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t begin = byteOf(place, index);
    for (int64_t i = begin; i < begin + width && !found; ++i)
      if (owners[i] != place.owner)
        found = Stranger{Index(index), owners[i]};
  });
  return found;
}

Tensor Arena::read(const Place &place) const {
  Tensor result(place.type.getTensorType());
  int64_t i = 0;
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    result[i++] = loadElement(result.elementType, &bytes[byteOf(place, index)]);
  });
  return result;
}

void Arena::write(const Place &place, const Tensor &tensor) {
  Type type = place.type.getElementType();
  int64_t width = elementBytes(type), i = 0;
  forEachIndex(place.type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t begin = byteOf(place, index);
    storeElement(type, &bytes[begin], tensor[i++]);
    std::fill_n(owners.begin() + begin, width, place.owner);
    touched[begin / kBlock] = touched[(begin + width - 1) / kBlock] = true;
  });
}

bool braid::reference::overlap(const Place &a, const Place &b) {
  if (a.offset >= b.end() || b.offset >= a.end())
    return false;
  if (a.type.isContiguous() && b.type.isContiguous())
    return true;
  llvm::DenseSet<int64_t> bytesOfA;
  int64_t widthA = elementBytes(a.type.getElementType()), widthB = elementBytes(b.type.getElementType());
  forEachIndex(a.type.getShape(), [&](ArrayRef<int64_t> index) {
    for (int64_t k = 0; k < widthA; ++k)
      bytesOfA.insert(Arena::byteOf(a, index) + k);
  });
  bool found = false;
  forEachIndex(b.type.getShape(), [&](ArrayRef<int64_t> index) {
    for (int64_t k = 0; k < widthB && !found; ++k)
      found = bytesOfA.contains(Arena::byteOf(b, index) + k);
  });
  return found;
}
