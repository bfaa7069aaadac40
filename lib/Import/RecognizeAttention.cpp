//===- RecognizeAttention.cpp - attention by matrix products --------------===//
//
// softmax(scale q kᵀ, capped and masked) v, as einsums in any order of dims. Masks are known tensors: added as 0 and a
// large negative number, or chosen by a select. Letters of an einsum tell the dims apart: the softmax has batch dims,
// perhaps a dim of heads that share a key, queries, and keys.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Masks.h"
#include "lib/Import/Match.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Scores below this count as -inf.
static constexpr double kMasked = -1e9;

//===----------------------------------------------------------------------===//
// Masks and factors
//===----------------------------------------------------------------------===//

namespace {
/// The parts of softmax(scores), from the outside in.
struct Scores {
  tg::ContractOp product;
  /// For each dim of the softmax, the dim of the product.
  SmallVector<int64_t> dims;
  double scale = 1, softcap = 0;
  MaybeKnown allowed;
};
} // namespace

/// Returns the operand of a broadcast or a reshape whose last two dims, queries and keys, are the result's, or null.
static Value beforeRepeatedMask(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(op))
    return {};
  ArrayRef<int64_t> from = tg::typeOf(op->getOperand(0)).getShape(), to = tg::typeOf(value).getShape();
  if (from.size() < 2 || to.size() < 2 || from.take_back(2) != to.take_back(2))
    return {};
  auto broadcast = dyn_cast<tg::BroadcastOp>(op);
  int64_t rank = to.size();
  bool isLast = !broadcast || broadcast.getDims().take_back(2) == ArrayRef<int64_t>({rank - 2, rank - 1});
  return isLast ? op->getOperand(0) : Value();
}

/// Returns the known tensor behind what repeats it.
static const Known *knownBehind(Value value, const KnownValues &known) {
  for (; value; value = beforeRepeatedMask(value))
    if (auto found = known.find(value); found != known.end())
      return &found->second;
  return nullptr;
}

/// Returns where a select takes the score, if its other side is masked; `open` is the value for a score that counts.
static MaybeKnown allowedBy(arith::SelectOp select, bool &isFirst, const KnownValues &known) {
  const Known *condition = knownBehind(select.getCondition(), known);
  std::optional<double> first = match::splat(select.getTrueValue()), second = match::splat(select.getFalseValue());
  isFirst = second && *second <= kMasked;
  if (!condition || (!isFirst && !(first && *first <= kMasked)))
    return std::nullopt;
  return isFirst ? MaybeKnown(*condition) : known::logicalNot(*condition);
}

/// Returns where an added tensor is 0, if it is masked elsewhere.
static MaybeKnown allowedWhereZero(Value added, const KnownValues &known) {
  while (Value before = beforeRepeatedMask(added))
    added = before;
  auto select = added.getDefiningOp<arith::SelectOp>();
  bool isFirst = false;
  MaybeKnown allowed = select ? allowedBy(select, isFirst, known) : std::nullopt;
  std::optional<double> open =
      allowed ? match::splat(isFirst ? select.getTrueValue() : select.getFalseValue()) : std::nullopt;
  return open == 0.0 ? allowed : std::nullopt;
}

/// Peels the mask off, if there is one.
static Value peelMask(Value scores, Scores &parts, const KnownValues &known) {
  Value inner = scores;
  match::either<arith::AddFOp>(scores, [&](Value rest, Value added) {
    parts.allowed = allowedWhereZero(added, known);
    inner = parts.allowed ? rest : scores;
    return parts.allowed.has_value();
  });
  if (auto select = scores.getDefiningOp<arith::SelectOp>()) {
    bool isFirst = false;
    parts.allowed = allowedBy(select, isFirst, known);
    if (parts.allowed)
      inner = isFirst ? select.getTrueValue() : select.getFalseValue();
  }
  return inner;
}

/// Peels a factor off: the value times or over a constant.
static Value peelFactor(Value value, double &factor) {
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> divisor = match::decimal(quotient.getRhs()); divisor && *divisor != 0) {
      factor /= *divisor;
      return quotient.getLhs();
    }
  Value inner;
  match::either<arith::MulFOp>(value, [&](Value rest, Value number) {
    std::optional<double> found = match::decimal(number);
    if (!found)
      return false;
    factor *= *found;
    inner = rest;
    return true;
  });
  return inner;
}

/// Reads cap tanh(x / cap), factors and transposes, down to the product of queries and keys.
static bool readScores(Value value, Scores &parts) {
  parts.dims = tg::dimRange(0, tg::typeOf(value).getRank());
  while (true) {
    if (auto product = value.getDefiningOp<tg::ContractOp>()) {
      parts.product = product;
      return true;
    }
    if (auto transpose = value.getDefiningOp<tg::TransposeOp>()) {
      for (int64_t &dim : parts.dims)
        dim = transpose.getPermutation()[dim];
      value = transpose.getInput();
      continue;
    }
    double factor = 1;
    Value inner = peelFactor(value, factor);
    if (!inner)
      return false;
    if (auto tanh = inner.getDefiningOp<math::TanhOp>()) {
      double inverse = 1;
      Value capped = peelFactor(tanh.getOperand(), inverse);
      if (!capped || parts.softcap || parts.scale != 1 || std::abs(inverse * factor - 1) > 1e-6 || factor <= 0)
        return false;
      parts.softcap = factor;
      value = capped;
      continue;
    }
    parts.scale *= factor;
    value = inner;
  }
}

//===----------------------------------------------------------------------===//
// Operands of products
//===----------------------------------------------------------------------===//

namespace {
/// A tensor, with a letter for each dim.
struct Lettered {
  Value value;
  std::string letters;
};
/// Letters of attention. `group` is 0 unless heads that share a key have a dim of their own.
struct Letters {
  char batch, heads, group, query, key, size;
};
} // namespace

/// Looks through transposes of an operand of a product.
static Lettered beforeTransposes(Value value, StringRef letters) {
  Lettered result{value, letters.str()};
  while (auto transpose = result.value.getDefiningOp<tg::TransposeOp>()) {
    std::string before(result.letters.size(), ' ');
    for (auto [dim, letter] : enumerate(result.letters))
      before[transpose.getPermutation()[dim]] = letter;
    result = {transpose.getInput(), before};
  }
  return result;
}

/// Returns keys or values before each head was repeated for several queries' heads, so that neighbors are equal.
static Lettered beforeRepeat(Lettered a, char heads) {
  auto reshape = a.value.getDefiningOp<tg::ReshapeOp>();
  auto broadcast = reshape ? reshape.getInput().getDefiningOp<tg::BroadcastOp>() : nullptr;
  int64_t dim = a.letters.find(heads), rank = a.letters.size();
  if (!broadcast || tg::typeOf(broadcast).getRank() != rank + 1)
    return a;
  SmallVector<int64_t> joined(tg::typeOf(broadcast).getShape()), before = joined, dims = tg::dimRange(0, rank + 1);
  joined[dim] *= joined[dim + 1];
  joined.erase(joined.begin() + dim + 1);
  before.erase(before.begin() + dim + 1);
  dims.erase(dims.begin() + dim + 1);
  Value source = broadcast.getInput();
  // A dim of size 1 may stand in front of the repetition.
  bool isRepeated = broadcast.getDims() == ArrayRef(dims);
  if (tg::typeOf(source).getRank() == rank + 1) {
    auto ones = source.getDefiningOp<tg::ReshapeOp>();
    isRepeated = ones && tg::typeOf(source).getDimSize(dim + 1) == 1;
    source = ones ? ones.getInput() : source;
  }
  return isRepeated && tg::typeOf(a.value).getShape() == ArrayRef(joined) &&
                 tg::typeOf(source).getShape() == ArrayRef(before)
             ? beforeTransposes(source, a.letters)
             : a;
}

/// Returns the tensor with its dims in the order of `letters`; dims of heads and groups are joined.
static Value inOrder(tg::TensorBuilder &b, const Lettered &a, const Letters &letters, char position) {
  std::string order{letters.batch, position, letters.heads};
  bool hasGroup = letters.group && StringRef(a.letters).contains(letters.group);
  if (hasGroup)
    order += letters.group;
  order += letters.size;
  SmallVector<int64_t> permutation;
  for (char letter : order)
    permutation.push_back(a.letters.find(letter));
  Value ordered = is_sorted(permutation) ? a.value : b.transpose(a.value, permutation);
  if (!hasGroup)
    return ordered;
  ArrayRef<int64_t> shape = tg::typeOf(ordered).getShape();
  return b.reshape(ordered, {shape[0], shape[1], shape[2] * shape[3], shape[4]});
}

/// Whether two texts have the same letters.
static bool haveSameLetters(StringRef a, std::string b) {
  std::string sorted = a.str();
  llvm::sort(sorted);
  llvm::sort(b);
  return sorted == b;
}

/// Names the dims of the softmax, `rank` of them, which are 4, or 5 if heads that share a key have a dim of their own.
/// Each operand of the second product must have exactly its dims.
static std::optional<Letters> lettersOf(StringRef weights, StringRef value, StringRef result) {
  Letters letters{0, 0, 0, 0, weights.back(), 0};
  std::string shared, own;
  for (char letter : weights.drop_back())
    (value.contains(letter) ? shared : own) += letter;
  for (char letter : value)
    if (!weights.contains(letter))
      letters.size = letter;
  bool hasGroup = own.size() == 2;
  if (shared.size() != 2 || own.empty() || own.size() > 2 || !letters.size || !value.contains(letters.key))
    return std::nullopt;
  letters.batch = shared[0];
  letters.heads = shared[1];
  letters.group = hasGroup ? own[0] : 0;
  letters.query = own.back();
  std::string expected{letters.batch, letters.heads, letters.query, letters.size};
  if (hasGroup)
    expected += letters.group;
  return haveSameLetters(result, expected) && value.size() == 4 ? std::optional(letters) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Queries and keys of the scores, and the values.
struct Operands {
  Lettered query, key, value;
};
} // namespace

/// Finds queries and keys among the operands of the first product, whose dims get the letters of the second.
static bool readQueryAndKey(const Scores &parts, StringRef weights, const Letters &letters, Operands &operands) {
  tg::ContractOp product = parts.product;
  tg::ContractionAttr einsum = product.getContraction();
  if (einsum.getResult().size() != weights.size() || einsum.getK().size() != 1)
    return false;
  auto renamed = [&](StringRef given) {
    std::string result;
    for (char letter : given) {
      size_t dim = einsum.getResult().find(letter);
      if (dim == StringRef::npos)
        result += letters.size;
      for (auto [place, from] : enumerate(parts.dims))
        if (dim != StringRef::npos && from == static_cast<int64_t>(dim))
          result += weights[place];
    }
    return result;
  };
  std::string query{letters.batch, letters.heads, letters.query, letters.size},
      key{letters.batch, letters.heads, letters.key, letters.size};
  if (letters.group)
    query += letters.group;
  std::string lhs = renamed(einsum.getLhs()), rhs = renamed(einsum.getRhs());
  bool isSwapped = haveSameLetters(rhs, query) && haveSameLetters(lhs, key);
  if (!isSwapped && !(haveSameLetters(lhs, query) && haveSameLetters(rhs, key)))
    return false;
  operands.query = beforeTransposes(isSwapped ? product.getRhs() : product.getLhs(), isSwapped ? rhs : lhs);
  operands.key = beforeTransposes(isSwapped ? product.getLhs() : product.getRhs(), isSwapped ? lhs : rhs);
  return true;
}

/// Returns softmax and its letters, if an operand of a product is one behind transposes.
static std::pair<tg::SoftmaxOp, std::string> softmaxBehind(Value operand, StringRef letters) {
  Lettered weights = beforeTransposes(operand, letters);
  return {weights.value.getDefiningOp<tg::SoftmaxOp>(), weights.letters};
}

/// The result of attention, batch x queries x heads x size, with the dims of the second product.
static Value withDimsOf(tg::TensorBuilder &b, Value result, tg::ContractOp product, StringRef names,
                        const Letters &letters) {
  std::string order{letters.batch, letters.query, letters.heads};
  ArrayRef<int64_t> shape = tg::typeOf(result).getShape();
  if (letters.group) {
    order += letters.group;
    int64_t heads = tg::typeOf(product).getDimSize(names.find(letters.heads));
    result = b.reshape(result, {shape[0], shape[1], heads, shape[2] / heads, shape[3]});
  }
  order += letters.size;
  SmallVector<int64_t> permutation;
  for (char letter : names)
    permutation.push_back(StringRef(order).find(letter));
  return is_sorted(permutation) ? result : b.transpose(result, permutation);
}

Value patterns::attention(Operation *op, const KnownValues &known) {
  auto product = dyn_cast<tg::ContractOp>(op);
  if (!product || product.getContraction().getK().size() != 1)
    return {};
  tg::ContractionAttr einsum = product.getContraction();
  auto [softmax, weights] = softmaxBehind(product.getLhs(), einsum.getLhs());
  bool isSwapped = !softmax;
  if (isSwapped)
    std::tie(softmax, weights) = softmaxBehind(product.getRhs(), einsum.getRhs());
  if (!softmax || weights.size() < 4)
    return {};
  Operands operands;
  operands.value = isSwapped ? beforeTransposes(product.getLhs(), einsum.getLhs())
                             : beforeTransposes(product.getRhs(), einsum.getRhs());
  std::optional<Letters> letters = lettersOf(weights, operands.value.letters, einsum.getResult());
  Scores parts;
  if (!letters || !readScores(peelMask(softmax.getInput(), parts, known), parts) ||
      !readQueryAndKey(parts, weights, *letters, operands))
    return {};
  // A mask is over queries and keys.
  MLIRContext *context = op->getContext();
  bool hasQueriesLast = weights[weights.size() - 2] == letters->query;
  tg::MaskAttr mask = parts.allowed ? recognizeMask(*parts.allowed, context) : tg::MaskAttr::get(context);
  if (!mask || (parts.allowed && !hasQueriesLast))
    return {};
  if (!letters->group) {
    operands.key = beforeRepeat(operands.key, letters->heads);
    operands.value = beforeRepeat(operands.value, letters->heads);
  }
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  Value query = inOrder(b, operands.query, *letters, letters->query);
  Value key = inOrder(b, operands.key, *letters, letters->key),
        value = inOrder(b, operands.value, *letters, letters->key);
  if (tg::typeOf(key).getShape() != tg::typeOf(value).getShape() || tg::typeOf(query).getRank() != 4 ||
      tg::typeOf(query).getDimSize(2) % tg::typeOf(key).getDimSize(2) ||
      tg::typeOf(query).getDimSize(3) != tg::typeOf(key).getDimSize(3))
    return {};
  FloatAttr softcap = parts.softcap ? builder.getF64FloatAttr(parts.softcap) : FloatAttr();
  Value result = b.make<tg::AttentionOp>(query, key, value, Value(), Value(), Value(),
                                         builder.getF64FloatAttr(parts.scale), mask, softcap);
  return withDimsOf(b, result, product, einsum.getResult(), *letters);
}
