//===- Arena.cpp - memory that tracks its writers -------------------------===//

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

namespace {
/// Converts elements of a type to bytes and back. The type is inspected once for all elements of a tensor.
class ElementBytes {
public:
  explicit ElementBytes(Type type) : type(type), width(elementBytes(type)) {
    if (type.isF64())
      form = F64;
    else if (type.isF32())
      form = F32;
    else if (type.isBF16())
      form = BF16;
    else
      form = width == 8 ? I64 : width == 4 ? I32 : I8;
  }

  Element load(const uint8_t *bytes) const;
  void store(uint8_t *bytes, Element element) const;

private:
  enum Form { F64, F32, BF16, I64, I32, I8 };
  Type type;
  Form form;

public:
  const int64_t width; // in bytes
};
} // namespace

Element ElementBytes::load(const uint8_t *bytes) const {
  switch (form) {
  case F64:
    return ofFloat(::load<double>(bytes));
  case F32:
    return ofFloat(::load<float>(bytes));
  case BF16:
    return ofFloat(std::bit_cast<float>(static_cast<uint32_t>(::load<uint16_t>(bytes)) << 16));
  case I64:
    return ofInt(::load<int64_t>(bytes));
  case I32:
    return ofInt(::load<int32_t>(bytes));
  case I8:
    return ofInt(wrapTo(type, ::load<int8_t>(bytes)));
  }
  llvm_unreachable("every form is there");
}

void ElementBytes::store(uint8_t *bytes, Element element) const {
  switch (form) {
  case F64:
    return ::store<double>(bytes, element.f);
  case F32:
    return ::store<float>(bytes, static_cast<float>(element.f));
  case BF16:
    return ::store<uint16_t>(bytes, std::bit_cast<uint32_t>(static_cast<float>(roundTo(type, element.f))) >> 16);
  case I64:
    return ::store<int64_t>(bytes, element.i);
  case I32:
    return ::store<int32_t>(bytes, static_cast<int32_t>(element.i));
  case I8:
    return ::store<int8_t>(bytes, static_cast<int8_t>(element.i));
  }
}

Tensor braid::reference::tensorOfBytes(RankedTensorType type, StringRef bytes) {
  Tensor result(type);
  ElementBytes element(result.elementType);
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = element.load(reinterpret_cast<const uint8_t *>(bytes.data()) + i * element.width);
  return result;
}

void braid::reference::appendBytes(const Tensor &tensor, std::string &bytes) {
  ElementBytes element(tensor.elementType);
  int64_t begin = bytes.size();
  bytes.resize(begin + element.width * tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    element.store(reinterpret_cast<uint8_t *>(bytes.data()) + begin + i * element.width, tensor[i]);
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

Arena::Arena(int64_t size) : bytes(size), owners(size, kNoOwner), touched(size / kBlock + 1, false) { poison(0, size); }

void Arena::poison(int64_t offset, int64_t count) {
  for (int64_t i = offset; i < offset + count; ++i)
    bytes[i] = poisonByte(i);
  std::fill_n(owners.begin() + offset, count, kNoOwner);
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

/// Calls `call` with the first byte of each element. `begin` is the byte of the first element; `steps` are
/// the strides of the dims in bytes.
static void forEachByte(ArrayRef<int64_t> shape, ArrayRef<int64_t> steps, int64_t begin,
                        function_ref<void(int64_t)> call) {
  if (shape.empty())
    return call(begin);
  for (int64_t i = 0; i < shape.front(); ++i, begin += steps.front())
    if (shape.size() == 1)
      call(begin);
    else
      forEachByte(shape.drop_front(), steps.drop_front(), begin, call);
}

/// Calls `call` with the first byte of each element in the arena, in row-major order.
static void forEachByte(const Place &place, function_ref<void(int64_t)> call) {
  Index steps(place.type.getStrides());
  for (int64_t &step : steps)
    step *= elementBytes(place.type.getElementType());
  forEachByte(place.type.getShape(), steps, place.offset, call);
}

void Arena::setOwner(int64_t begin, int64_t count, int32_t owner) {
  std::fill_n(owners.begin() + begin, count, owner);
  touched[begin / kBlock] = touched[(begin + count - 1) / kBlock] = true;
}

void Arena::reserve(const Place &place) {
  int64_t width = elementBytes(place.type.getElementType());
  forEachByte(place, [&](int64_t begin) {
    poison(begin, width);
    setOwner(begin, width, kReserved);
  });
}

std::optional<Arena::ForeignElement> Arena::findForeignElement(const Place &place) const {
  int64_t width = elementBytes(place.type.getElementType()), element = 0;
  std::optional<ForeignElement> found;
  forEachByte(place, [&](int64_t begin) {
    for (int64_t i = begin; i < begin + width && !found; ++i)
      if (owners[i] != place.owner)
        found = ForeignElement{indexOfPlace(place.type.getShape(), element), begin, owners[i]};
    ++element;
  });
  return found;
}

Tensor Arena::read(const Place &place) const {
  Tensor result(place.type.getTensorType());
  ElementBytes element(result.elementType);
  int64_t i = 0;
  forEachByte(place, [&](int64_t begin) { result[i++] = element.load(&bytes[begin]); });
  return result;
}

void Arena::write(const Place &place, const Tensor &tensor) {
  ElementBytes element(place.type.getElementType());
  int64_t i = 0;
  forEachByte(place, [&](int64_t begin) {
    element.store(&bytes[begin], tensor[i++]);
    setOwner(begin, element.width, place.owner);
  });
}

bool braid::reference::overlap(const Place &a, const Place &b) {
  if (a.offset >= b.end() || b.offset >= a.end())
    return false;
  if (a.type.isContiguous() && b.type.isContiguous())
    return true;
  llvm::DenseSet<int64_t> bytesOfA;
  int64_t widthA = elementBytes(a.type.getElementType()), widthB = elementBytes(b.type.getElementType());
  forEachByte(a, [&](int64_t begin) {
    for (int64_t k = 0; k < widthA; ++k)
      bytesOfA.insert(begin + k);
  });
  bool found = false;
  forEachByte(b, [&](int64_t begin) {
    for (int64_t k = 0; k < widthB && !found; ++k)
      found = bytesOfA.contains(begin + k);
  });
  return found;
}
