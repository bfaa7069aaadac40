//===- Contractions.cpp - linear layers and matrix products ---------------===//

#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

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

/// beta * bias + alpha * product.
static Value scaledSum(CallBuilder &call, Value product) {
  double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  if (product && alpha != 1)
    product = call.mul(product, alpha);
  if (beta == 0)
    return product;
  Value bias = call.tensor("self");
  return withBias(call, product, beta == 1 || !tg::isFloat(bias) ? bias : call.mul(bias, beta));
}

/// bias + x w, the form of GPT-2's Conv1D.
static Values addmm(CallBuilder &call) {
  bool isPlain = call.number("alpha", 1) == 1 && call.number("beta", 1) == 1;
  Value bias = isPlain ? call.tensor("self") : Value();
  Value sum = linear(call, call.tensor("mat1"), call.tensor("mat2"), bias, /*isTransposed=*/true);
  return {isPlain ? sum : scaledSum(call, sum)};
}

/// bias + x w for each matrix of a batch.
static Values baddbmm(CallBuilder &call) {
  return {scaledSum(call, contract(call, "bmk,bkn->bmn", call.tensor("batch1"), call.tensor("batch2")))};
}

/// A product with a vector: a matrix of one row or one column.
static Value productWithVector(CallBuilder &call, Value a, Value b) {
  int64_t aRank = tg::typeOf(a).getRank(), bRank = tg::typeOf(b).getRank();
  std::string aLead, bLead;
  if (aRank > 1)
    aLead = kLeadingLetters.take_front(aRank - 1).str();
  if (bRank > 1)
    bLead = kLeadingLetters.take_front(bRank - 2).str();
  if (aRank == 1 && bRank == 1) {
    a = call.reshape(a, {1, tg::typeOf(a).getDimSize(0)});
    aLead = "a";
  }
  std::string spec = bRank == 1 ? aLead + "k,k->" + aLead : "k," + bLead + "kn->" + bLead + "n";
  Value product = contract(call, spec, a, b);
  return product ? call.reshape(product, call.resultType().shape) : product;
}

/// a b over the last two dims, with equal or missing leading dims.
static Values matmul(CallBuilder &call) {
  StringRef second = call.has("mat2") ? "mat2" : call.has("vec") ? "vec" : call.has("tensor") ? "tensor" : "other";
  Value a = call.tensor("self"), b = call.tensor(second);
  int64_t aRank = tg::typeOf(a).getRank(), bRank = tg::typeOf(b).getRank();
  if (aRank < 1 || bRank < 1)
    return {call.fail("of tensors without dims is not supported")};
  if (aRank == 1 || bRank == 1)
    return {productWithVector(call, a, b)};
  if (bRank == 2 && aRank >= 2)
    return {linear(call, a, b, {}, /*isTransposed=*/true)};
  int64_t lead = std::max(aRank, bRank) - 2;
  if (lead > static_cast<int64_t>(kLeadingLetters.size()))
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

/// Returns the letters of an einsum's operands, and of the result last; nothing after an error. Three dots become
/// capital letters, and a missing result has the letters that stand once, in their order.
static SmallVector<std::string> lettersOf(CallBuilder &call, ArrayRef<Value> tensors) {
  std::string spec;
  for (char c : call.string("equation"))
    if (c != ' ')
      spec += c;
  auto [operands, result] = StringRef(spec).split("->");
  bool hasResult = StringRef(spec).contains("->");
  SmallVector<StringRef> parts;
  operands.split(parts, ',');
  size_t most = 0;
  for (auto [part, tensor] : llvm::zip(parts, tensors))
    if (part.contains("..."))
      most = std::max<size_t>(most, tg::typeOf(tensor).getRank() + 3 - part.size());
  constexpr StringLiteral kDots = "ABCDEFGHIJKLMNOP";
  auto spelled = [&](StringRef part, size_t dots) {
    auto [before, after] = part.split("...");
    return part.contains("...") ? (before + kDots.take_front(most).take_back(dots) + after).str() : part.str();
  };
  SmallVector<std::string> letters;
  for (auto [part, tensor] : llvm::zip(parts, tensors)) {
    letters.push_back(spelled(part, part.contains("...") ? tg::typeOf(tensor).getRank() + 3 - part.size() : 0));
    if (static_cast<int64_t>(letters.back().size()) != tg::typeOf(tensor).getRank() ||
        !all_of(letters.back(), [](char c) { return isAlpha(c); })) {
      call.fail("'" + spec + "' does not fit its tensors");
      return {};
    }
  }
  if (parts.size() != tensors.size() || most > kDots.size()) {
    call.fail("'" + spec + "' does not fit its tensors");
    return {};
  }
  std::string implied;
  std::string all = llvm::join(letters, "");
  llvm::sort(all);
  for (char c : all)
    if (StringRef(all).count(c) == 1 || (isUpper(c) && !StringRef(implied).contains(c)))
      implied += c;
  letters.push_back(hasResult ? spelled(result, most) : implied);
  return letters;
}

/// An einsum of several tensors multiplies them from left to right. A letter of one operand alone that the result lacks
/// is summed first.
static Values einsum(CallBuilder &call) {
  SmallVector<Value> tensors;
  for (const TensorName &name : call.tensors("tensors"))
    tensors.push_back(call.tensorNamed(name.name));
  SmallVector<std::string> letters = lettersOf(call, tensors);
  if (letters.empty())
    return {};
  std::string result = letters.pop_back_val();
  Value product = tensors.front();
  std::string left = letters.front();
  for (size_t i = 1; i < tensors.size(); ++i) {
    std::string rest = result + llvm::join(ArrayRef(letters).drop_front(i + 1), ""), kept;
    for (char c : left + letters[i])
      if (StringRef(rest).contains(c) && !StringRef(kept).contains(c))
        kept += c;
    if (i + 1 == tensors.size())
      kept = result;
    auto error = [&] { return emitError(call.loc) << call.call.op << ": "; };
    if (!tg::ContractionAttr::getChecked(error, call.builder.getContext(), StringRef(left), StringRef(letters[i]),
                                         StringRef(kept)))
      return {};
    product = contract(call, left + "," + letters[i] + "->" + kept, product, tensors[i]);
    if (!product)
      return {};
    left = kept;
  }
  return tensors.size() == 1 ? permuteAndSum(call, product, left, result) : Values{product};
}

static constexpr OpRow kContractionsRows[] = {
    {"aten.linear.default", "input:T weight:T bias:T?", linearLayer, nullptr, "tg.contract"},
    {"aten.addmm.default", "self:T mat1:T mat2:T alpha:N? beta:N?", addmm, nullptr, "tg.contract"},
    {"aten.baddbmm.default", "self:T batch1:T batch2:T alpha:N? beta:N?", baddbmm, nullptr, "tg.contract"},
    {"aten.mv.default", "self:T vec:T", matmul, nullptr, "tg.contract"},
    {"aten.dot.default", "self:T tensor:T", matmul, nullptr, "tg.contract"},
    {"aten.mm.default", "self:T mat2:T", matmul, nullptr, "tg.contract"},
    {"aten.bmm.default", "self:T mat2:T", matmul, nullptr, "tg.contract"},
    {"aten.matmul.default", "self:T other:T", matmul, nullptr, "tg.contract"},
    {"aten.einsum.default", "equation:S tensors:TL", einsum, nullptr, "tg.contract", "path"},
};

ArrayRef<OpRow> braid::torch::contractionRows() { return kContractionsRows; }
