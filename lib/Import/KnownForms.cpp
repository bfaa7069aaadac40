//===- KnownForms.cpp - short forms of dense integers ---------------------===//

#include "lib/Import/Known.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

using namespace llvm;
using namespace braid;

/// Calls `visit` with the value of an affine function and of the tensor at each element, until it returns false.
static bool forEachElement(const Affine &affine, ArrayRef<int64_t> shape, const std::vector<double> &numbers,
                           llvm::function_ref<bool(int64_t, double)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t position = affine.constant;
  for (double number : numbers) {
    if (!visit(position, number))
      return false;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      position += affine.factors[dim];
      if (++index[dim] < shape[dim])
        break;
      position -= affine.factors[dim] * shape[dim];
      index[dim] = 0;
    }
  }
  return true;
}

static bool isInteger(double number) { return number == std::floor(number) && std::abs(number) <= INT32_MAX; }

Known known::simplified(const Known &a) {
  const auto *dense = std::get_if<Dense>(&a.value);
  if (!dense || dense->numbers->empty() || !isInteger(dense->numbers->front()))
    return a;
  const std::vector<double> &numbers = *dense->numbers;
  Affine affine{SmallVector<int64_t>(a.shape.size(), 0), static_cast<int64_t>(numbers.front())};
  int64_t stride = 1;
  for (int64_t dim = a.shape.size() - 1; dim >= 0; stride *= a.shape[dim--])
    if (a.shape[dim] > 1) {
      if (!isInteger(numbers[stride]))
        return a;
      affine.factors[dim] = static_cast<int64_t>(numbers[stride] - numbers.front());
    }
  auto equals = [](int64_t position, double number) { return static_cast<double>(position) == number; };
  return forEachElement(affine, a.shape, numbers, equals) ? Known{a.shape, affine} : a;
}

/// Returns the steps along one affine function, if the elements depend on it alone.
static std::optional<Steps> stepsAlong(const Affine &position, ArrayRef<int64_t> shape,
                                       const std::vector<double> &numbers, size_t maxChanges) {
  std::map<int64_t, double> values;
  bool isFunction = forEachElement(position, shape, numbers, [&](int64_t at, double number) {
    return isInteger(number) && values.try_emplace(at, number).first->second == number;
  });
  if (!isFunction)
    return std::nullopt;
  Steps steps{position, static_cast<int64_t>(values.begin()->second), {}};
  int64_t last = steps.first;
  for (auto [at, value] : values)
    if (auto next = static_cast<int64_t>(value); next != last) {
      steps.changes.emplace_back(at, next);
      last = next;
    }
  return steps.changes.size() <= maxChanges ? std::optional(steps) : std::nullopt;
}

std::optional<Steps> known::stepsOf(const Known &a, size_t maxChanges) {
  std::optional<std::vector<double>> numbers = a.numbers();
  if (!numbers || numbers->empty())
    return std::nullopt;
  SmallVector<Affine> positions;
  int64_t rank = a.shape.size();
  for (int64_t first = 0; first < rank; ++first) {
    Affine along{SmallVector<int64_t>(rank, 0), 0};
    along.factors[first] = 1;
    positions.push_back(along);
    for (int64_t second = 0; second < first; ++second)
      for (int64_t factor : {-1, 1}) {
        positions.push_back(along);
        positions.back().factors[second] = factor;
      }
  }
  for (const Affine &position : positions)
    if (std::optional<Steps> steps = stepsAlong(position, a.shape, *numbers, maxChanges))
      return steps;
  return std::nullopt;
}
