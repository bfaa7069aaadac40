//===- Compare.cpp - comparison of results --------------------------------===//

#include "lib/Reference/Compare.h"
#include "lib/Reference/Tensor.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace braid::reference;

static double greatest(const Tensor &tensor) {
  double result = 0;
  for (const Element &e : tensor.elements)
    result = std::max(result, std::abs(e.f));
  return result;
}

/// Returns whether two 8-bit codes count as equal. Rounding goes either way, so adjacent codes
/// are equal, and so are codes whose numbers differ little relative to the largest of the block.
static bool areSameCode(int64_t a, int64_t b, double tolerance) {
  auto number = [](int64_t code) { return std::copysign(std::pow(code / 127.0, 4), code); };
  return std::abs(a - b) <= 1 || std::abs(number(a) - number(b)) <= tolerance;
}

std::string braid::reference::difference(const Tensor &expected, const Tensor &found, Tolerance tolerance) {
  if (expected.shape != found.shape || expected.hasFloats() != found.hasFloats()) {
    std::string text;
    llvm::raw_string_ostream(text) << "expected " << RankedTensorType::get(expected.shape, expected.elementType)
                                   << ", found " << RankedTensorType::get(found.shape, found.elementType);
    return text;
  }
  bool isCode = expected.elementType.isInteger(8);
  double bound = expected.hasFloats() ? tolerance.absolute + tolerance.relative * greatest(expected) : 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    // Equal infinities agree; the negated comparison catches NaN.
    bool same = expected.hasFloats() ? expected.f(i) == found.f(i) || std::abs(expected.f(i) - found.f(i)) <= bound
                : isCode             ? areSameCode(expected.n(i), found.n(i), tolerance.relative)
                                     : expected.n(i) == found.n(i);
    if (expected.hasFloats() && (std::isnan(expected.f(i)) || std::isnan(found.f(i))))
      same = false;
    if (same)
      continue;
    std::string text = "at " + indexText(indexOfPlace(expected.shape, i)) + " expected " + exactText(expected, i) +
                       ", found " + exactText(found, i);
    if (expected.hasFloats())
      llvm::raw_string_ostream(text) << llvm::format(" (difference %.3g, allowed %.3g)",
                                                     std::abs(expected.f(i) - found.f(i)), bound);
    return text;
  }
  return "";
}

double braid::reference::relativeError(const Tensor &expected, const Tensor &found) {
  double error = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    error = std::max(error, std::abs(expected.f(i) - found.f(i)));
  double scale = greatest(expected);
  return scale > 0 ? error / scale : error;
}

/// Returns the numbers of the results that are not updates.
static std::vector<int64_t> outputsOf(const Program &program) {
  std::vector<int64_t> outputs;
  for (size_t i = 0; i < program.results.size(); ++i)
    if (program.results[i].updates.empty())
      outputs.push_back(i);
  return outputs;
}

std::vector<int64_t> braid::reference::matchResults(const Program &expected, const Program &found) {
  std::vector<int64_t> partners(expected.results.size(), -1);
  std::vector<bool> taken(found.results.size(), false);
  for (size_t i = 0; i < partners.size(); ++i)
    for (size_t j = 0; j < found.results.size() && partners[i] < 0; ++j)
      if (!taken[j] && !expected.results[i].name().empty() && expected.results[i].name() == found.results[j].name()) {
        partners[i] = j;
        taken[j] = true;
      }
  std::vector<int64_t> expectedOutputs = outputsOf(expected), foundOutputs = outputsOf(found);
  for (size_t k = 0; k < expectedOutputs.size() && k < foundOutputs.size(); ++k) {
    int64_t i = expectedOutputs[k], j = foundOutputs[k];
    bool isNameless = expected.results[i].name().empty() || found.results[j].name().empty();
    if (partners[i] < 0 && !taken[j] && isNameless)
      partners[i] = j;
  }
  return partners;
}
