//===- Contractions.cpp - linear layers and matrix products ---------------===//

#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

/// Letters of the dims before the last one or two.
static constexpr StringLiteral kLeadingLetters = "abcdefghijl";

/// Contracts, or reports operands that do not fit.
static Value contract(CallBuilder &call, const std::string &spec, Value a, Value b) {
  auto contraction = tg::ContractionAttr::get(call.builder.getContext(), spec);
  Expected<SmallVector<int64_t>> shape = contraction.getResultShape(tg::typeOf(a), tg::typeOf(b));
  if (!shape)
    return call.fail(toString(shape.takeError()));
  if (tg::typeOf(a).getElementType() != tg::typeOf(b).getElementType() || !tg::isFloat(a))
    return call.fail("operands have different element types, or are no floats");
  return call.make<tg::ContractOp>(contraction, a, b);
}

/// Adds a bias along the last dim.
static Value withBias(CallBuilder &call, Value product, Value bias) {
  if (!product || !bias)
    return product;
  if (tg::typeOf(bias).getElementType() != tg::typeOf(product).getElementType())
    return call.fail("the bias has another element type");
  Value wide = call.expand(bias, tg::typeOf(product).getShape());
  return wide ? call.add(product, wide) : wide;
}

/// x wᵀ + b, of any number of leading dims. Dims that a reshape joined are taken apart again: the layer reads x as it
/// was, and its result is reshaped.
static Value linear(CallBuilder &call, Value input, Value weight, Value bias, bool isTransposed) {
  int64_t weightRank = tg::typeOf(weight).getRank();
  if (weightRank != 2 || tg::typeOf(input).getRank() < 1)
    return call.fail("the weight is no matrix");
  Value source = input;
  if (auto reshape = input.getDefiningOp<tg::ReshapeOp>()) {
    RankedTensorType before = tg::typeOf(reshape.getInput());
    if (before.getRank() > tg::typeOf(input).getRank() &&
        before.getShape().back() == tg::typeOf(input).getShape().back())
      source = reshape.getInput();
  }
  size_t lead = tg::typeOf(source).getRank() - 1;
  if (lead > kLeadingLetters.size())
    return call.fail("the input has more than " + Twine(kLeadingLetters.size() + 1) + " dims");
  std::string rows = kLeadingLetters.take_front(lead).str();
  Value product = contract(call, rows + "k," + (isTransposed ? "kn" : "nk") + "->" + rows + "n", source, weight);
  Value result = withBias(call, product, bias);
  return result ? call.reshape(result, call.resultType().shape) : result;
}

static Values linearLayer(CallBuilder &call) {
  return {linear(call, call.tensor("input"), call.tensor("weight"), call.tensorOrNull("bias"), /*isTransposed=*/false)};
}

/// bias + x w, the form of GPT-2's Conv1D.
static Values addmm(CallBuilder &call) {
  if (call.number("alpha", 1) != 1 || call.number("beta", 1) != 1)
    return {call.fail("alpha and beta are not supported")};
  return {linear(call, call.tensor("mat1"), call.tensor("mat2"), call.tensor("self"), /*isTransposed=*/true)};
}

/// a b over the last two dims, with equal or missing leading dims.
static Values matmul(CallBuilder &call) {
  StringRef second = call.has("mat2") ? "mat2" : "other";
  Value a = call.tensor("self"), b = call.tensor(second);
  int64_t aRank = tg::typeOf(a).getRank(), bRank = tg::typeOf(b).getRank();
  if (aRank < 1 || bRank < 1 || (bRank == 1 && aRank == 1))
    return {call.fail("of tensors without dims, or of two vectors, is not supported")};
  if (bRank == 2 && aRank >= 2)
    return {linear(call, a, b, {}, /*isTransposed=*/true)};
  int64_t lead = std::max(aRank, bRank) - 2;
  if (lead > static_cast<int64_t>(kLeadingLetters.size()) || aRank < 2 || bRank < 2)
    return {call.fail("of these ranks is not supported")};
  // Leading dims of size 1 are repeated.
  ArrayRef<int64_t> result = call.resultType().shape;
  auto widened = [&](Value operand) -> Value {
    SmallVector<int64_t> shape(result.take_front(lead));
    llvm::append_range(shape, tg::typeOf(operand).getShape().take_back(2));
    return call.expand(operand, shape);
  };
  if (static_cast<int64_t>(result.size()) != lead + 2)
    return {call.fail("the result has another rank than the operands")};
  a = widened(a);
  b = widened(b);
  if (!a || !b)
    return {};
  std::string batch = kLeadingLetters.take_front(lead).str();
  return {contract(call, batch + "mk," + batch + "kn->" + batch + "mn", a, b)};
}

/// An einsum of one tensor whose letters differ: the sum over those that the result lacks, in the result's order.
static Values permuteAndSum(CallBuilder &call, Value input, StringRef letters, StringRef kept) {
  SmallVector<int64_t> summed, permutation;
  std::string left;
  for (auto [dim, letter] : enumerate(letters))
    if (kept.contains(letter))
      left += letter;
    else
      summed.push_back(dim);
  for (char letter : kept)
    permutation.push_back(left.find(letter));
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  bool isRepeated = any_of(letters, [&](char letter) { return letters.count(letter) > 1; });
  if (isRepeated || sorted != tg::dimRange(0, left.size()) || kept.size() != left.size() || !tg::isFloat(input) ||
      static_cast<int64_t>(letters.size()) != tg::typeOf(input).getRank())
    return {call.fail("'" + letters + "->" + kept + "' does not fit its tensor, or repeats a letter")};
  Value sum = summed.empty() ? input : call.sum(input, summed);
  return {tg::dimRange(0, permutation.size()) == permutation ? sum : call.transpose(sum, permutation)};
}

/// An einsum of two tensors whose letters are as tg.contract has them, or of one.
static Values einsum(CallBuilder &call) {
  const TensorNames &tensors = call.tensors("tensors");
  std::string spec;
  for (char c : call.string("equation"))
    if (c != ' ')
      spec += c;
  if (tensors.size() == 1 && StringRef(spec).contains("->") && !StringRef(spec).contains('.'))
    return permuteAndSum(call, call.tensorNamed(tensors[0].name), StringRef(spec).split("->").first,
                         StringRef(spec).split("->").second);
  if (tensors.size() != 2 || !StringRef(spec).contains("->") || StringRef(spec).contains('.'))
    return {
        call.fail("'" + spec + "' is not supported; einsum takes one or two tensors and names the result's letters")};
  MLIRContext *context = call.builder.getContext();
  auto [operands, result] = StringRef(spec).split("->");
  auto [lhs, rhs] = operands.split(',');
  auto error = [&] { return emitError(call.loc) << call.call.op << ": "; };
  auto contraction = tg::ContractionAttr::getChecked(error, context, lhs, rhs, result);
  if (!contraction)
    return {};
  return {contract(call, spec, call.tensorNamed(tensors[0].name), call.tensorNamed(tensors[1].name))};
}

static constexpr OpRow kContractionsRows[] = {
    {"aten.linear.default", "input:T weight:T bias:T?", linearLayer, nullptr, "tg.contract"},
    {"aten.addmm.default", "self:T mat1:T mat2:T alpha:N? beta:N?", addmm, nullptr, "tg.contract"},
    {"aten.mm.default", "self:T mat2:T", matmul, nullptr, "tg.contract"},
    {"aten.bmm.default", "self:T mat2:T", matmul, nullptr, "tg.contract"},
    {"aten.matmul.default", "self:T other:T", matmul, nullptr, "tg.contract"},
    {"aten.einsum.default", "equation:S tensors:TL", einsum, nullptr, "tg.contract", "path"},
};

ArrayRef<OpRow> braid::torch::contractionRows() { return kContractionsRows; }
