//===- Known.cpp - values that a model computes without its inputs --------===//

#include "lib/Import/Known.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace braid;

/// Upper limit of elements that are computed one by one.
static constexpr int64_t kMaxDense = int64_t(1) << 22;
/// Upper limit of the terms of a band.
static constexpr size_t kMaxTerms = 64;

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

/// Sets the factors of dims of size 1 to 0.
static Affine normalized(Affine affine, ArrayRef<int64_t> shape) {
  for (auto [factor, size] : zip_equal(affine.factors, shape))
    if (size == 1)
      factor = 0;
  return affine;
}

bool Affine::isConstant() const {
  return all_of(factors, [](int64_t factor) { return factor == 0; });
}

/// Drops terms that are always true. One that is always false makes the band false.
static Known bandOf(ArrayRef<int64_t> shape, ArrayRef<Affine> terms) {
  Band band;
  for (const Affine &given : terms) {
    Affine term = normalized(given, shape);
    int64_t least = term.constant, most = term.constant;
    for (auto [factor, size] : zip_equal(term.factors, shape))
      (factor < 0 ? least : most) += factor * (size - 1);
    if (most < 0)
      return {Shape(shape), Band{{Affine{SmallVector<int64_t>(shape.size(), 0), -1}}}};
    if (least < 0 && !is_contained(band.terms, term))
      band.terms.push_back(term);
  }
  return {Shape(shape), band};
}

/// Whether all values are 32-bit integers, the integers of the graph. So sums and differences of two affine functions
/// do not overflow.
static bool isInRange(const Affine &affine, ArrayRef<int64_t> shape) {
  int64_t least = affine.constant, most = affine.constant;
  for (auto [factor, size] : zip_equal(affine.factors, shape)) {
    int64_t span = 0, &end = factor < 0 ? least : most;
    if (MulOverflow(factor, std::max<int64_t>(size - 1, 0), span) || AddOverflow(end, span, end))
      return false;
  }
  return least >= INT32_MIN && most <= INT32_MAX;
}

/// Returns nothing if a value is no 32-bit integer.
static MaybeKnown affineOf(ArrayRef<int64_t> shape, const Affine &affine) {
  Affine result = normalized(affine, shape);
  return isInRange(result, shape) ? MaybeKnown(Known{Shape(shape), result}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Calls `visit` with the index of each element, in row-major order.
static void forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t left = elementsOf(shape); left > 0; --left) {
    visit(index);
    for (int64_t dim = shape.size() - 1; dim >= 0 && ++index[dim] == shape[dim]; --dim)
      index[dim] = 0;
  }
}

static int64_t valueAt(const Affine &affine, ArrayRef<int64_t> index) {
  int64_t value = affine.constant;
  for (auto [factor, position] : zip_equal(affine.factors, index))
    value += factor * position;
  return value;
}

std::optional<std::vector<double>> Known::numbers() const {
  if (auto *dense = std::get_if<Dense>(&value))
    return *dense->numbers;
  if (elementsOf(shape) > kMaxDense)
    return std::nullopt;
  std::vector<double> numbers;
  numbers.reserve(elementsOf(shape));
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    if (affine())
      numbers.push_back(valueAt(*affine(), index));
    else
      numbers.push_back(all_of(band()->terms, [&](const Affine &term) { return valueAt(term, index) >= 0; }));
  });
  return numbers;
}

std::optional<double> Known::splat() const {
  if (affine())
    return affine()->isConstant() ? std::optional<double>(affine()->constant) : std::nullopt;
  if (band()) {
    if (band()->terms.empty())
      return 1;
    return band()->terms.front().isConstant() ? std::optional<double>(0) : std::nullopt;
  }
  const std::vector<double> &numbers = *std::get<Dense>(value).numbers;
  return !numbers.empty() && all_equal(numbers) ? std::optional(numbers.front()) : std::nullopt;
}

Known known::constant(ArrayRef<int64_t> shape, int64_t value) {
  return {Shape(shape), Affine{SmallVector<int64_t>(shape.size(), 0), value}};
}

Known known::boolean(ArrayRef<int64_t> shape, bool value) {
  return bandOf(shape, {Affine{SmallVector<int64_t>(shape.size(), 0), value ? 0 : -1}});
}

MaybeKnown known::range(int64_t count, int64_t start, int64_t step) { return affineOf({count}, {{step}, start}); }

MaybeKnown known::dense(ArrayRef<int64_t> shape, std::vector<double> numbers) {
  if (static_cast<int64_t>(numbers.size()) != elementsOf(shape))
    return std::nullopt;
  return Known{Shape(shape), Dense{std::make_shared<std::vector<double>>(std::move(numbers))}};
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Applies `move`, which keeps values within their range, to the affine functions of a tensor, or picks the elements of
/// a dense one: `source` maps an index of the result to an index of `a`.
static Known moved(const Known &a, ArrayRef<int64_t> shape, llvm::function_ref<Affine(const Affine &)> move,
                   llvm::function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> source) {
  if (a.affine())
    return {Shape(shape), normalized(move(*a.affine()), shape)};
  if (a.band())
    return bandOf(shape, map_to_vector(a.band()->terms, move));
  const std::vector<double> &from = *std::get<Dense>(a.value).numbers;
  auto numbers = std::make_shared<std::vector<double>>();
  SmallVector<int64_t> at(a.shape.size(), 0);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    source(index, at);
    int64_t position = 0;
    for (auto [size, i] : zip_equal(a.shape, at))
      position = position * size + i;
    numbers->push_back(from[position]);
  });
  return {Shape(shape), Dense{numbers}};
}

MaybeKnown known::reshape(const Known &a, ArrayRef<int64_t> shape) {
  if (elementsOf(shape) != elementsOf(a.shape))
    return std::nullopt;
  if (std::holds_alternative<Dense>(a.value))
    return Known{Shape(shape), a.value};
  // Dims of size 1 may come and go; other reshapes are computed element by element.
  auto wide = [](ArrayRef<int64_t> sizes) {
    return to_vector(make_filter_range(sizes, [](int64_t size) { return size != 1; }));
  };
  if (wide(a.shape) != wide(shape)) {
    if (a.affine() && a.affine()->isConstant())
      return constant(shape, a.affine()->constant);
    if (std::optional<double> value = a.band() ? a.splat() : std::nullopt)
      return boolean(shape, *value != 0);
    std::optional<std::vector<double>> numbers = a.numbers();
    return numbers ? dense(shape, std::move(*numbers)) : std::nullopt;
  }
  auto move = [&](const Affine &affine) {
    Affine result{SmallVector<int64_t>(shape.size(), 0), affine.constant};
    size_t from = 0;
    for (auto [dim, size] : enumerate(shape)) {
      if (size == 1)
        continue;
      while (a.shape[from] == 1)
        ++from;
      result.factors[dim] = affine.factors[from++];
    }
    return result;
  };
  return moved(a, shape, move, [](ArrayRef<int64_t>, MutableArrayRef<int64_t>) {});
}

Known known::transpose(const Known &a, ArrayRef<int64_t> permutation) {
  Shape shape = map_to_vector(permutation, [&](int64_t dim) { return a.shape[dim]; });
  auto move = [&](const Affine &affine) {
    return Affine{map_to_vector(permutation, [&](int64_t dim) { return affine.factors[dim]; }), affine.constant};
  };
  return moved(a, shape, move, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> at) {
    for (auto [to, from] : enumerate(permutation))
      at[from] = index[to];
  });
}

MaybeKnown known::broadcast(const Known &a, ArrayRef<int64_t> shape) {
  if (shape.size() < a.shape.size())
    return std::nullopt;
  size_t lead = shape.size() - a.shape.size();
  for (auto [size, wanted] : zip_equal(a.shape, shape.drop_front(lead)))
    if (size != 1 && size != wanted)
      return std::nullopt;
  if (std::holds_alternative<Dense>(a.value) && elementsOf(shape) > kMaxDense)
    return std::nullopt;
  auto move = [&](const Affine &affine) {
    Affine result{SmallVector<int64_t>(lead, 0), affine.constant};
    result.factors.append(affine.factors);
    return result;
  };
  return moved(a, shape, move, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> at) {
    for (auto [dim, size] : enumerate(a.shape))
      at[dim] = size == 1 ? 0 : index[lead + dim];
  });
}

Known known::slice(const Known &a, int64_t dim, int64_t offset, int64_t size, int64_t stride) {
  Shape shape = a.shape;
  shape[dim] = size;
  auto move = [&](Affine affine) {
    affine.constant += affine.factors[dim] * offset;
    affine.factors[dim] *= stride;
    return affine;
  };
  return moved(a, shape, move, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> at) {
    llvm::copy(index, at.begin());
    at[dim] = offset + index[dim] * stride;
  });
}

MaybeKnown known::concat(ArrayRef<Known> parts, int64_t dim) {
  Shape shape = parts.front().shape;
  shape[dim] = 0;
  for (const Known &part : parts) {
    Shape others = part.shape;
    others[dim] = shape[dim];
    if (others != shape)
      return std::nullopt;
    shape[dim] += part.shape[dim];
    if (shape[dim] > kMaxDense || elementsOf(shape) > kMaxDense)
      return std::nullopt;
  }
  int64_t inner = elementsOf(ArrayRef(shape).drop_front(dim + 1)), outer = elementsOf(ArrayRef(shape).take_front(dim));
  SmallVector<std::vector<double>> numbers;
  for (const Known &part : parts)
    numbers.push_back(*part.numbers());
  std::vector<double> joined;
  for (int64_t row = 0; row < outer; ++row)
    for (auto [part, values] : zip_equal(parts, numbers)) {
      int64_t run = part.shape[dim] * inner;
      joined.insert(joined.end(), values.begin() + row * run, values.begin() + (row + 1) * run);
    }
  return dense(shape, std::move(joined));
}

MaybeKnown known::index(const Known &a, ArrayRef<Known> indices, ArrayRef<int64_t> shape) {
  if (!a.affine() && !a.band())
    return std::nullopt;
  // Only positions that are affine themselves, for all dims of `a`, keep the form.
  SmallVector<Affine> positions;
  if (indices.size() != a.shape.size())
    return std::nullopt;
  for (auto [given, size] : zip_equal(indices, a.shape)) {
    MaybeKnown wide = broadcast(given, shape), last = constant(shape, size - 1), zero = constant(shape, 0);
    MaybeKnown isBelow = wide ? isAtLeast(*last, *wide, 0) : std::nullopt;
    MaybeKnown isPositive = wide ? isAtLeast(*wide, *zero, 0) : std::nullopt;
    if (!isBelow || !isPositive || isBelow->splat() != 1.0 || isPositive->splat() != 1.0)
      return std::nullopt;
    positions.push_back(*wide->affine());
  }
  auto move = [&](const Affine &affine) {
    Affine result{SmallVector<int64_t>(shape.size(), 0), affine.constant};
    for (auto [factor, position] : zip_equal(affine.factors, positions)) {
      result.constant += factor * position.constant;
      for (auto [to, from] : zip_equal(result.factors, position.factors))
        to += factor * from;
    }
    return result;
  };
  return moved(a, shape, move, [](ArrayRef<int64_t>, MutableArrayRef<int64_t>) {});
}

//===----------------------------------------------------------------------===//
// Integers and booleans
//===----------------------------------------------------------------------===//

/// Returns a + factor * b, with a factor of 1 or -1.
static Affine combined(const Affine &a, const Affine &b, int64_t factor) {
  Affine sum = a;
  sum.constant += factor * b.constant;
  for (auto [to, from] : zip_equal(sum.factors, b.factors))
    to += factor * from;
  return sum;
}

MaybeKnown known::add(const Known &a, const Known &b, int64_t factor) {
  if (!a.affine() || !b.affine())
    return map(a, b, [&](double x, double y) { return x + factor * y; });
  return affineOf(a.shape, combined(*a.affine(), *b.affine(), factor));
}

MaybeKnown known::multiply(const Known &a, const Known &b) {
  if (!a.affine() || !b.affine())
    return map(a, b, [](double x, double y) { return x * y; });
  if (!b.affine()->isConstant())
    return a.affine()->isConstant() ? multiply(b, a) : std::nullopt;
  Affine product = *a.affine();
  bool overflows = MulOverflow(product.constant, b.affine()->constant, product.constant);
  for (int64_t &factor : product.factors)
    overflows |= MulOverflow(factor, b.affine()->constant, factor);
  return overflows ? std::nullopt : affineOf(a.shape, product);
}

MaybeKnown known::isAtLeast(const Known &a, const Known &b, int64_t least) {
  if (!a.affine() || !b.affine())
    return map(a, b, [&](double x, double y) { return x - y >= least; });
  Affine difference = combined(*a.affine(), *b.affine(), -1);
  difference.constant -= least;
  return bandOf(a.shape, difference);
}

MaybeKnown known::isEqual(const Known &a, const Known &b) {
  // Where a mask is 0, and where it is 1.
  if (a.band() && b.affine() && b.affine()->isConstant())
    if (int64_t number = b.affine()->constant; number == 0 || number == 1)
      return number == 1 ? MaybeKnown(a) : logicalNot(a);
  if (!a.affine() || !b.affine())
    return map(a, b, [](double x, double y) { return x == y; });
  MaybeKnown above = isAtLeast(a, b, 0), below = isAtLeast(b, a, 0);
  return above && below ? logicalAnd(*above, *below) : std::nullopt;
}

MaybeKnown known::logicalAnd(const Known &a, const Known &b) {
  if (!a.band() || !b.band())
    return map(a, b, [](double x, double y) { return x != 0 && y != 0; });
  if (a.band()->terms.size() + b.band()->terms.size() > kMaxTerms)
    return std::nullopt;
  SmallVector<Affine> terms = a.band()->terms;
  terms.append(b.band()->terms);
  return bandOf(a.shape, terms);
}

MaybeKnown known::logicalOr(const Known &a, const Known &b) {
  std::optional<double> first = a.splat(), second = b.splat();
  if (first == 1.0 || second == 0.0)
    return a;
  if (second == 1.0 || first == 0.0)
    return b;
  return map(a, b, [](double x, double y) { return x != 0 || y != 0; });
}

MaybeKnown known::logicalNot(const Known &a) {
  if (!a.band() || a.band()->terms.size() > 1)
    return map(a, [](double x) { return x == 0; });
  if (a.band()->terms.empty())
    return boolean(a.shape, false);
  // Not t >= 0 is -t - 1 >= 0.
  Affine term = a.band()->terms.front();
  term.constant = -term.constant - 1;
  for (int64_t &factor : term.factors)
    factor = -factor;
  return bandOf(a.shape, term);
}

MaybeKnown known::difference(const Known &a, const Known *before, int64_t dim) {
  if (!a.affine() || (before && !before->affine()))
    return std::nullopt;
  int64_t step = a.affine()->factors[dim];
  if (!before) {
    Shape shape = a.shape;
    shape[dim] -= 1;
    return affineOf(shape, {SmallVector<int64_t>(shape.size(), 0), step});
  }
  // The first difference must be as all others.
  Known first = slice(a, dim, 0, 1, 1);
  MaybeKnown gap = before->shape == first.shape ? add(first, *before, -1) : std::nullopt;
  bool isSame = gap && gap->affine()->isConstant() && (gap->affine()->constant == step || a.shape[dim] == 1);
  return isSame ? constant(a.shape, gap->affine()->constant) : MaybeKnown();
}

MaybeKnown known::runningSum(const Known &a, int64_t dim) {
  std::optional<double> each = a.splat();
  if (!each || *each != std::floor(*each) || std::abs(*each) > INT32_MAX)
    return std::nullopt;
  Affine sum{SmallVector<int64_t>(a.shape.size(), 0), static_cast<int64_t>(*each)};
  sum.factors[dim] = sum.constant;
  return affineOf(a.shape, sum);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

MaybeKnown known::map(const Known &a, llvm::function_ref<double(double)> function) {
  std::optional<std::vector<double>> numbers = a.numbers();
  if (!numbers)
    return std::nullopt;
  for (double &number : *numbers)
    number = function(number);
  return dense(a.shape, std::move(*numbers));
}

MaybeKnown known::map(const Known &a, const Known &b, llvm::function_ref<double(double, double)> function) {
  std::optional<std::vector<double>> numbers = a.numbers(), others = b.numbers();
  if (!numbers || !others || numbers->size() != others->size())
    return std::nullopt;
  for (auto [number, other] : zip_equal(*numbers, *others))
    number = function(number, other);
  return dense(a.shape, std::move(*numbers));
}
