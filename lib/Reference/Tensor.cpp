//===- Tensor.cpp - shapes, indices, rounding -----------------------------===//

#include "lib/Reference/Tensor.h"
#include "llvm/Support/Format.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace braid::reference;

bool braid::reference::isFloat(Type type) { return isa<FloatType>(type); }

/// Keeps the upper 16 bits of the f32, rounded to nearest even.
static double roundToBf16(double value) {
  // Going through f32 could round twice. So a value that f32 rounded to a tie is moved
  // off the tie, towards the exact value.
  float narrow = static_cast<float>(value);
  if (std::isnan(narrow))
    return value;
  uint32_t bits = std::bit_cast<uint32_t>(narrow);
  if ((bits & 0xFFFF) == 0x8000 && static_cast<double>(narrow) != value)
    bits += std::abs(value) > std::abs(static_cast<double>(narrow)) ? 1 : -1;
  bits += 0x7FFF + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xFFFF0000u);
}

Rounding braid::reference::roundingOf(Type type) {
  if (type.isF32())
    return [](double value) { return static_cast<double>(static_cast<float>(value)); };
  return type.isBF16() ? roundToBf16 : nullptr;
}

double braid::reference::roundTo(Type type, double value) {
  Rounding rounding = roundingOf(type);
  return rounding ? rounding(value) : value;
}

int64_t braid::reference::wrapTo(Type type, int64_t value) {
  if (type.isIndex())
    return value;
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return value & 1;
  if (width >= 64)
    return value;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
}

int64_t braid::reference::saturateTo(Type type, double value, bool isSigned) {
  const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  const double limit = std::ldexp(1.0, isSigned ? width - 1 : width), least = isSigned ? -limit : 0;
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return wrapTo(type, isSigned ? llvm::maxIntN(width) : static_cast<int64_t>(llvm::maxUIntN(width)));
  if (value <= least)
    return wrapTo(type, isSigned ? llvm::minIntN(width) : 0);
  return wrapTo(type, isSigned ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(value)));
}

int64_t braid::reference::elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Index braid::reference::rowMajorStrides(ArrayRef<int64_t> shape) {
  Index strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

void braid::reference::forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> visit) {
  if (elementCount(shape) == 0)
    return;
  Index index(shape.size(), 0);
  while (true) {
    visit(index);
    int64_t d = static_cast<int64_t>(shape.size()) - 1;
    while (d >= 0 && ++index[d] == shape[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

Index braid::reference::indexOfPlace(ArrayRef<int64_t> shape, int64_t place) {
  Index index;
  for (int64_t stride : rowMajorStrides(shape)) {
    index.push_back(place / stride);
    place %= stride;
  }
  return index;
}

std::string braid::reference::indexText(ArrayRef<int64_t> index) {
  std::string text = "[";
  for (size_t d = 0; d < index.size(); ++d)
    text += (d ? ", " : "") + std::to_string(index[d]);
  return text + "]";
}

std::optional<Tensor> Tensor::ofAttribute(TypedAttr attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    Tensor result({}, number.getType());
    result.f(0) = number.getValueAsDouble();
    return result;
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    Tensor result({}, number.getType());
    result.n(0) = wrapTo(number.getType(), number.getValue().getSExtValue());
    return result;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense || !isa<RankedTensorType>(dense.getType()))
    return std::nullopt;
  Tensor result(cast<RankedTensorType>(dense.getType()));
  int64_t i = 0;
  if (result.hasFloats()) {
    for (APFloat value : dense.getValues<APFloat>()) {
      bool lost = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      result.f(i++) = value.convertToDouble();
    }
    return result;
  }
  for (const APInt &value : dense.getValues<APInt>())
    result.n(i++) = wrapTo(result.elementType, value.getSExtValue());
  return result;
}

int64_t Tensor::at(ArrayRef<int64_t> index) const {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

Tensor Tensor::reshaped(ArrayRef<int64_t> newShape) const {
  Tensor result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

Tensor Tensor::transposed(ArrayRef<int64_t> permutation) const {
  Index newShape, source(rank());
  for (int64_t dim : permutation)
    newShape.push_back(shape[dim]);
  Tensor result(newShape, elementType);
  int64_t place = 0;
  forEachIndex(newShape, [&](ArrayRef<int64_t> index) {
    for (size_t d = 0; d < permutation.size(); ++d)
      source[permutation[d]] = index[d];
    result[place++] = elements[at(source)];
  });
  return result;
}

void Tensor::round() {
  if (Rounding rounding = roundingOf(elementType))
    for (Element &element : elements)
      element.f = rounding(element.f);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string braid::reference::elementText(const Tensor &tensor, int64_t i) {
  if (tensor.elementType.isInteger(1))
    return tensor.n(i) ? "true" : "false";
  if (!tensor.hasFloats())
    return std::to_string(tensor.n(i));
  // The sign of a NaN has no meaning and differs between machines.
  if (std::isnan(tensor.f(i)))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", tensor.f(i));
  return text;
}

std::string braid::reference::exactText(const Tensor &tensor, int64_t i) {
  if (!tensor.hasFloats() || std::isnan(tensor.f(i)))
    return elementText(tensor, i);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", tensor.f(i));
  return text;
}

/// Prints the sub-tensor that begins at element `begin` and has the dims from `dim` on.
static void printNested(llvm::raw_ostream &os, const Tensor &tensor, int64_t dim, int64_t begin) {
  if (dim == tensor.rank()) {
    os << elementText(tensor, begin);
    return;
  }
  int64_t stride = rowMajorStrides(tensor.shape)[dim];
  os << '[';
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    os << (i ? ", " : "");
    printNested(os, tensor, dim + 1, begin + i * stride);
  }
  os << ']';
}

void braid::reference::printTensor(llvm::raw_ostream &os, StringRef name, const Tensor &tensor, int64_t limit) {
  os << name << ": " << RankedTensorType::get(tensor.shape, tensor.elementType) << " = ";
  if (tensor.size() <= limit) {
    printNested(os, tensor, 0, 0);
  } else {
    double squares = 0, sum = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double value = tensor.hasFloats() ? tensor.f(i) : static_cast<double>(tensor.n(i));
      squares += value * value;
      sum += value;
    }
    os << llvm::format("%lld elements, norm %.6g, sum %.6g", static_cast<long long>(tensor.size()), std::sqrt(squares),
                       sum);
  }
  os << '\n';
}
