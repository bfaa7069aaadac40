//===- Contractions.cpp - matrix products ---------------------------------===//

#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

namespace {
/// Dims of a dot_general.
struct DotDims {
  Integers lhsBatch, rhsBatch, lhsContracted, rhsContracted;
  /// Dims that are in the result alone.
  SmallVector<int64_t> lhsFree, rhsFree;
};
} // namespace

/// Reads the dims, or returns nothing if they do not fit the operands.
static std::optional<DotDims> dotDimsOf(SourceOp &op) {
  std::optional<Fields> fields = Fields::parse(op.attribute("dot_dimension_numbers"), "dot");
  if (!fields)
    return std::nullopt;
  DotDims dims{fields->list("lhs_batching_dimensions"),
               fields->list("rhs_batching_dimensions"),
               fields->list("lhs_contracting_dimensions"),
               fields->list("rhs_contracting_dimensions"),
               {},
               {}};
  auto fit = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    if (lhs.size() != rhs.size())
      return false;
    for (auto [left, right] : zip_equal(lhs, rhs))
      if (left < 0 || right < 0 || left >= static_cast<int64_t>(op.shape(0).size()) ||
          right >= static_cast<int64_t>(op.shape(1).size()) || op.shape(0)[left] != op.shape(1)[right])
        return false;
    return true;
  };
  if (!fit(dims.lhsBatch, dims.rhsBatch) || !fit(dims.lhsContracted, dims.rhsContracted))
    return std::nullopt;
  auto freeDims = [&](ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted, int64_t rank, SmallVector<int64_t> &left) {
    SmallVector<int64_t> used(batch);
    append_range(used, contracted);
    llvm::sort(used);
    left = tg::otherDims(used, rank);
    return std::adjacent_find(used.begin(), used.end()) == used.end();
  };
  bool isValid = freeDims(dims.lhsBatch, dims.lhsContracted, op.shape(0).size(), dims.lhsFree) &&
                 freeDims(dims.rhsBatch, dims.rhsContracted, op.shape(1).size(), dims.rhsFree);
  SmallVector<int64_t> shape;
  auto append = [&](ArrayRef<int64_t> from, ArrayRef<int64_t> which) {
    for (int64_t dim : which)
      shape.push_back(from[dim]);
  };
  append(op.shape(0), dims.lhsBatch);
  append(op.shape(0), dims.lhsFree);
  append(op.shape(1), dims.rhsFree);
  return isValid && op.resultShape() == ArrayRef<int64_t>(shape) ? std::optional(dims) : std::nullopt;
}

/// Returns, for each dim of an operand, its dim in the result. Without contracted dims each has one.
static SmallVector<int64_t> dimsInResult(const DotDims &dims, bool isLhs) {
  ArrayRef<int64_t> batch = isLhs ? dims.lhsBatch : dims.rhsBatch, rest = isLhs ? dims.lhsFree : dims.rhsFree;
  SmallVector<int64_t> places(batch.size() + rest.size());
  int64_t next = 0;
  for (int64_t dim : batch)
    places[dim] = next++;
  next += isLhs ? 0 : dims.lhsFree.size();
  for (int64_t dim : rest)
    places[dim] = next++;
  return places;
}

/// Permutation that sorts `places`, so that a broadcast keeps the order of dims.
static SmallVector<int64_t> sortedBy(ArrayRef<int64_t> places) {
  SmallVector<int64_t> order = tg::dimRange(0, places.size());
  llvm::sort(order, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  return order;
}

/// A product of each with each: no dim is contracted.
static Value outerProduct(SourceOp &op, const DotDims &dims) {
  auto wide = [&](unsigned operand) {
    SmallVector<int64_t> places = dimsInResult(dims, operand == 0), order = sortedBy(places);
    Value ordered = op.transposed(op.convert(op.tensor(operand), op.element()), order);
    llvm::sort(places);
    return op.expand(ordered, op.resultShape(), places);
  };
  return op.mul(wide(0), wide(1));
}
static MaybeKnown evaluateDot(SourceOp &op) {
  std::optional<DotDims> dims = op.known(0) && op.known(1) && op.element().isF32() ? dotDimsOf(op) : std::nullopt;
  if (!dims || !dims->lhsContracted.empty())
    return std::nullopt;
  auto wide = [&](unsigned operand) -> MaybeKnown {
    SmallVector<int64_t> places = dimsInResult(*dims, operand == 0);
    Known ordered = known::transpose(*op.known(operand), sortedBy(places));
    Shape placed(op.resultShape().size(), 1);
    for (auto [place, size] : zip_equal(places, op.known(operand)->shape))
      placed[place] = size;
    MaybeKnown reshaped = known::reshape(ordered, placed);
    return reshaped ? known::broadcast(*reshaped, op.resultShape()) : std::nullopt;
  };
  MaybeKnown lhs = wide(0), rhs = wide(1);
  if (!lhs || !rhs)
    return std::nullopt;
  return known::map(*lhs, *rhs, [](double x, double y) { return static_cast<double>(static_cast<float>(x * y)); });
}

/// Letters of an einsum: batch dims first, then free dims of both operands, then contracted ones.
static std::string einsumOf(SourceOp &op, const DotDims &dims) {
  std::string lhs(op.shape(0).size(), ' '), rhs(op.shape(1).size(), ' '), result;
  char next = 'a';
  for (auto [left, right] : zip_equal(dims.lhsBatch, dims.rhsBatch))
    result += lhs[left] = rhs[right] = next++;
  for (int64_t dim : dims.lhsFree)
    result += lhs[dim] = next++;
  for (int64_t dim : dims.rhsFree)
    result += rhs[dim] = next++;
  for (auto [left, right] : zip_equal(dims.lhsContracted, dims.rhsContracted))
    lhs[left] = rhs[right] = next++;
  return lhs + "," + rhs + "->" + result;
}

static Values dot(SourceOp &op) {
  std::optional<DotDims> dims = dotDimsOf(op);
  Type lhs = op.operandType(0).getElementType(), rhs = op.operandType(1).getElementType();
  if (!dims || op.shape(0).size() + op.shape(1).size() > 26)
    return {op.fail("the dims do not fit the operands")};
  bool isWide = lhs.isBF16() && op.element().isF32();
  if (!op.isFloatResult() || lhs != rhs || (lhs != op.element() && !isWide))
    return {op.fail("operands have different element types, or are no floats")};
  if (dims->lhsContracted.empty())
    return {outerProduct(op, *dims)};
  std::string spec = einsumOf(op, *dims);
  return {isWide ? op.contractWide(spec, op.tensor(0), op.tensor(1)) : op.contract(spec, op.tensor(0), op.tensor(1))};
}

static constexpr OpRow kContractionRows[] = {
    {"stablehlo.dot_general", 2, "dot_dimension_numbers:E", dot, evaluateDot, "tg.contract", "precision_config"},
};

ArrayRef<OpRow> braid::stablehlo::contractionRows() { return kContractionRows; }
