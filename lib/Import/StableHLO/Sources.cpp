//===- Sources.cpp - constants and positions ------------------------------===//

#include "lib/Import/StableHLO/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limit of a constant's elements, unless all are equal.
static constexpr int64_t kMaxTable = int64_t(1) << 20;

static double numberOf(const APFloat &value) { return value.convertToDouble(); }
static double numberOf(const APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : static_cast<double>(value.getSExtValue());
}

/// Returns the numbers of a constant in the type of the result, or nothing after an error.
static std::optional<std::vector<double>> numbersOf(SourceOp &op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.attribute("value"));
  if (!elements || elements.getType() != op.op->getResult(0).getType()) {
    op.fail("the value has another type than the result, or is no dense constant");
    return std::nullopt;
  }
  if (!elements.isSplat() && elements.getNumElements() > kMaxTable) {
    op.fail("a table of " + Twine(elements.getNumElements()) + " numbers in the program; at most " + Twine(kMaxTable) +
            " are read: pass it as an argument");
    return std::nullopt;
  }
  std::vector<double> numbers;
  auto read = [&](auto values) {
    for (const auto &value : values) {
      numbers.push_back(numberOf(value));
      if (elements.isSplat())
        break;
    }
  };
  if (isa<FloatType>(elements.getElementType()))
    read(elements.getValues<APFloat>());
  else
    read(elements.getValues<APInt>());
  for (double number : numbers)
    if (!op.isFloatResult() && std::abs(number) > INT32_MAX && number != INT32_MIN) {
      op.fail(Twine(static_cast<int64_t>(number)) + " is no integer of 32 bits");
      return std::nullopt;
    }
  return numbers;
}

/// Returns whole numbers that grow evenly along each dim, such as the positions that NumPy counted, or nothing.
static std::optional<Affine> evenNumbers(ArrayRef<int64_t> shape, ArrayRef<double> numbers) {
  Affine even{SmallVector<int64_t>(shape.size(), 0), static_cast<int64_t>(numbers.front())};
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; stride *= shape[dim--])
    even.factors[dim] = shape[dim] > 1 ? static_cast<int64_t>(numbers[stride] - numbers.front()) : 0;
  for (auto [place, number] : enumerate(numbers)) {
    int64_t expected = even.constant, rest = place;
    for (int64_t dim = shape.size() - 1; dim >= 0; rest /= shape[dim--])
      expected += even.factors[dim] * (rest % shape[dim]);
    if (static_cast<double>(expected) != number)
      return std::nullopt;
  }
  return even;
}

static MaybeKnown evaluateConstant(SourceOp &op) {
  std::optional<std::vector<double>> numbers = numbersOf(op);
  ArrayRef<int64_t> shape = op.resultShape();
  if (!numbers || numbers->empty())
    return std::nullopt;
  double first = numbers->front();
  bool isSplat = all_equal(*numbers) && !std::isnan(first),
       isWhole = first == std::floor(first) && !std::signbit(first);
  if (isSplat && op.element().isInteger(1))
    return known::boolean(shape, first != 0);
  if (isSplat && std::abs(first) <= INT32_MAX && (isWhole || (first == std::floor(first) && first != 0)))
    return known::constant(shape, static_cast<int64_t>(first));
  if (!isSplat && op.element().isInteger(32))
    if (std::optional<Affine> even = evenNumbers(shape, *numbers))
      return Known{Shape(shape), *even};
  return known::dense(shape, std::move(*numbers));
}

static Values constant(SourceOp &op) {
  std::optional<std::vector<double>> numbers = numbersOf(op);
  if (!numbers)
    return {};
  if (!op.isFloatResult())
    return {op.fail("tables of integers without elements are not supported")};
  auto elements = cast<DenseElementsAttr>(op.attribute("value"));
  Value value = op.make<arith::ConstantOp>(cast<TypedAttr>(Attribute(DenseElementsAttr(elements))));
  if (!elements.isSplat() && elements.getNumElements() > kMaxConstantElements)
    requirePattern(value, elements.getNumElements());
  return {value};
}

static MaybeKnown evaluateIota(SourceOp &op) {
  int64_t dim = op.integer("iota_dimension"), rank = op.resultShape().size();
  if (dim < 0 || dim >= rank)
    return std::nullopt;
  MaybeKnown range = known::range(op.resultShape()[dim], 0, 1);
  Shape between(rank, 1);
  between[dim] = op.resultShape()[dim];
  MaybeKnown placed = range ? known::reshape(*range, between) : std::nullopt;
  return placed ? known::broadcast(*placed, op.resultShape()) : std::nullopt;
}
static Values iota(SourceOp &op) {
  int64_t dim = op.integer("iota_dimension"), rank = op.resultShape().size();
  if (dim < 0 || dim >= rank || op.element().isInteger(1))
    return {op.fail("dim " + Twine(dim) + " is none of a tensor with " + Twine(rank) + " dims, or of truth values")};
  RankedTensorType integers = tg::withElement(op.resultType(), op.builder.getI32Type());
  return {op.convert(op.make<tg::IotaOp>(integers, dim), op.element())};
}

static constexpr OpRow kSourceRows[] = {
    {"stablehlo.constant", 0, "value:A", constant, evaluateConstant, "a constant", "", true},
    {"stablehlo.iota", 0, "iota_dimension:I", iota, evaluateIota, "tg.iota", "", true},
};

ArrayRef<OpRow> braid::stablehlo::sourceRows() { return kSourceRows; }
