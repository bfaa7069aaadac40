//===- ShardingRule.cpp - construction and printing of rules --------------===//

#include "dialects/Interfaces/ShardingRule.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace mlir;
using namespace braid;

using DimFactors = ShardingRule::DimFactors;
using TensorFactors = ShardingRule::TensorFactors;

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Returns one letter per factor: its own, else the first unused one.
static SmallVector<char> namesOf(ArrayRef<Factor> factors) {
  std::string taken;
  for (const Factor &factor : factors)
    if (factor.letter)
      taken += factor.letter;
  SmallVector<char> names;
  char next = 'a';
  for (const Factor &factor : factors) {
    while (!factor.letter && taken.find(next) != std::string::npos)
      ++next;
    names.push_back(factor.letter ? factor.letter : next++);
  }
  return names;
}

static void printTensor(llvm::raw_ostream &os, const TensorFactors &dims, ArrayRef<char> names) {
  if (dims.empty())
    os << "()";
  llvm::interleave(
      dims, os,
      [&](const DimFactors &dim) {
        if (dim.empty())
          os << '1';
        for (unsigned factor : dim)
          os << names[factor];
      },
      " ");
}

static constexpr std::pair<StringLiteral, Combine> kReduced[] = {{"reduced", Combine::Sum},
                                                                 {"reduced mean", Combine::Mean},
                                                                 {"reduced max", Combine::Max},
                                                                 {"reduced min", Combine::Min}};

std::string ShardingRule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<char> names = namesOf(factors);
  auto print = [&](const TensorFactors &dims) { printTensor(os, dims, names); };
  llvm::interleaveComma(operands, os, print);
  os << (operands.empty() ? "-> " : " -> ");
  llvm::interleaveComma(results, os, print);
  auto list = [&](StringRef title, auto &&has) {
    bool first = true;
    for (auto [factor, name] : llvm::zip(factors, names))
      if (has(factor)) {
        os << (first ? (" " + title).str() : std::string()) << ' ' << name;
        first = false;
      }
  };
  for (auto [title, combine] : kReduced)
    list(title, [combine = combine](const Factor &factor) {
      return factor.kind == FactorKind::Reduced && factor.combine == combine;
    });
  list("whole", [](const Factor &factor) { return factor.kind == FactorKind::Whole; });
  list("positional", [](const Factor &factor) { return factor.positional; });
  list("decomposed", [](const Factor &factor) { return factor.decomposed; });
  for (auto [index, set] : llvm::enumerate(linear)) {
    os << (index == 0 ? " linear {" : " {");
    llvm::interleave(set, os, " ");
    os << '}';
  }
  if (flat)
    os << (unpadded ? " flat unpadded" : " flat");
  return text;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

ShardingRule braid::elementwiseRule(Operation *op) {
  ShardingRule rule;
  TensorFactors dims;
  auto factorsOf = [&](Type type) {
    ArrayRef<int64_t> shape = shapeOf(type);
    if (dims.empty())
      for (int64_t size : shape)
        dims.push_back({rule.add(size)});
    return shape.empty() ? TensorFactors() : dims;
  };
  for (Type type : op->getOperandTypes())
    rule.operands.push_back(factorsOf(type));
  for (Type type : op->getResultTypes())
    rule.results.push_back(factorsOf(type));
  rule.flat = !dims.empty();
  return rule;
}

SmallVector<Value> braid::cloneOnShard(Operation *op, OpBuilder &builder, const Shard &shard) {
  OperationState state(op->getLoc(), op->getName(), shard.operands, shard.resultTypes, op->getAttrs());
  return builder.create(state)->getResults();
}

SmallVector<Value> braid::buildOnShard(Operation *op, OpBuilder &builder, const Shard &shard) {
  auto known = dyn_cast<ShardingRuleOpInterface>(op);
  return known ? known.buildShard(builder, shard) : cloneOnShard(op, builder, shard);
}

Value ShardingRule::valueOf(Operation *op, unsigned tensor) {
  return tensor < op->getNumOperands() ? op->getOperand(tensor) : op->getResult(tensor - op->getNumOperands());
}

std::optional<unsigned> ShardingRule::dimOfFactor(const TensorFactors &tensor, unsigned factor) {
  for (auto [dim, factors] : llvm::enumerate(tensor))
    if (llvm::is_contained(factors, factor))
      return dim;
  return std::nullopt;
}

std::optional<ShardingRule> braid::shardingRuleOf(Operation *op) {
  if (auto known = dyn_cast<ShardingRuleOpInterface>(op))
    return known.getShardingRule();
  if (op->hasTrait<OpTrait::Elementwise>())
    return elementwiseRule(op);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Einsum notation
//===----------------------------------------------------------------------===//

namespace {
/// Reads the notation against the types of an op, one tensor after the other.
class EinsumReader {
public:
  explicit EinsumReader(Operation *op) : op(op) {}

  ShardingRule read(StringRef notation, StringRef whole, StringRef positional, StringRef decomposed);

private:
  /// Dims of a tensor: letters, with `...` expanded to markers.
  using Dims = SmallVector<SmallString<4>>;

  Dims dimsOf(StringRef text, Type type);
  SmallVector<Dims> split(StringRef text, TypeRange types);
  /// Binds letters to sizes: first letters that are a dim of their own (`single`), then
  /// the last unknown letter of a dim.
  void bind(ArrayRef<Dims> tensors, TypeRange types, bool single);
  TensorFactors factorsOf(const Dims &dims);

  Operation *op;
  ShardingRule rule;
  llvm::SmallDenseMap<char, unsigned> factor;
};
} // namespace

/// Returns the marker of a leading dim that `...` stands for, a character that no notation uses.
static char leadingDim(unsigned index) { return static_cast<char>('0' + index); }

EinsumReader::Dims EinsumReader::dimsOf(StringRef text, Type type) {
  SmallVector<StringRef> tokens;
  text.split(tokens, ' ', -1, /*KeepEmpty=*/false);
  Dims dims;
  unsigned rank = shapeOf(type).size();
  for (StringRef token : tokens) {
    if (token == "()")
      continue;
    if (token != "...") {
      dims.emplace_back(token == "1" ? StringRef() : token);
      continue;
    }
    for (unsigned i = 0, named = tokens.size() - 1; i + named < rank; ++i) {
      char marker = leadingDim(i);
      dims.emplace_back(StringRef(&marker, 1));
    }
  }
  assert(dims.size() == rank && "the notation does not fit the op's types");
  return dims;
}

SmallVector<EinsumReader::Dims> EinsumReader::split(StringRef text, TypeRange types) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  SmallVector<Dims> tensors;
  for (auto [part, type] : llvm::zip_equal(parts, types))
    tensors.push_back(dimsOf(part, type));
  return tensors;
}

void EinsumReader::bind(ArrayRef<Dims> tensors, TypeRange types, bool single) {
  for (auto [dims, type] : llvm::zip_equal(tensors, types))
    for (auto [letters, size] : llvm::zip_equal(dims, shapeOf(type))) {
      if ((letters.size() == 1) != single)
        continue;
      int64_t rest = size;
      char unknown = 0;
      for (char letter : letters) {
        auto it = factor.find(letter);
        if (it == factor.end())
          unknown = letter;
        else
          rest /= rule.factors[it->second].size;
      }
      if (unknown)
        factor[unknown] = rule.add(rest);
    }
}

TensorFactors EinsumReader::factorsOf(const Dims &dims) {
  TensorFactors tensor;
  for (StringRef letters : dims) {
    DimFactors &dim = tensor.emplace_back();
    for (char letter : letters)
      dim.push_back(factor.lookup(letter));
  }
  return tensor;
}

ShardingRule EinsumReader::read(StringRef notation, StringRef whole, StringRef positional, StringRef decomposed) {
  auto [inputs, outputs] = notation.split("->");
  SmallVector<Dims> operands = split(inputs, op->getOperandTypes());
  SmallVector<Dims> results = split(outputs, op->getResultTypes());
  for (bool single : {true, false}) {
    bind(operands, op->getOperandTypes(), single);
    bind(results, op->getResultTypes(), single);
  }
  BitVector kept(rule.factors.size());
  for (const Dims &dims : operands)
    rule.operands.push_back(factorsOf(dims));
  for (const Dims &dims : results)
    for (const DimFactors &dim : rule.results.emplace_back(factorsOf(dims)))
      for (unsigned number : dim)
        kept.set(number);
  for (auto [letter, number] : factor) {
    Factor &entry = rule.factors[number];
    entry.letter = llvm::isAlpha(letter) ? letter : 0;
    auto marked = [letter = letter](StringRef letters) {
      return letters.contains(llvm::isAlpha(letter) ? letter : '.');
    };
    entry.positional = marked(positional);
    entry.decomposed = marked(decomposed);
    if (!kept[number])
      entry.kind = FactorKind::Reduced;
    if (marked(whole))
      entry.kind = FactorKind::Whole;
  }
  return std::move(rule);
}

ShardingRule braid::einsumRule(Operation *op, StringRef notation, StringRef whole, StringRef positional,
                               StringRef decomposed) {
  return EinsumReader(op).read(notation, whole, positional, decomposed);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// Reads both shapes major to minor, and splits the greatest common divisor of the two
/// current remainders off as a factor: index / remainder is then equal on both sides.
/// Once the divisor is 1, dims are mixed until the products are equal again, and the
/// remainders of those dims stay whole.
class ReshapeReader {
public:
  ReshapeReader(ArrayRef<int64_t> from, ArrayRef<int64_t> to) : source{from}, target{to} {
    source.factors.resize(from.size());
    target.factors.resize(to.size());
  }

  ShardingRule read();

private:
  struct Side {
    ArrayRef<int64_t> shape;
    TensorFactors factors = {};
    size_t next = 0;  ///< Number of the next dim.
    int64_t left = 1; ///< Remainder of the dim before it.

    bool atUnit() const { return left == 1 && next < shape.size() && shape[next] == 1; }
    void open() {
      if (left == 1 && next < shape.size())
        left = shape[next++];
    }
    /// Returns the dim that a factor of size 1 joins.
    size_t current() const { return left == 1 && next < shape.size() ? next : next - 1; }
  };

  /// Splits off a dim of size 1. On the other side, the factor is a dim of size 1 too, or joins the current dim.
  void readUnit(Side &here, Side &there);
  void readMixed();

  Side source, target;
  ShardingRule rule;
};
} // namespace

void ReshapeReader::readUnit(Side &here, Side &there) {
  unsigned factor = rule.add(1);
  here.factors[here.next++].push_back(factor);
  if (!there.shape.empty())
    there.factors[there.current()].push_back(factor);
  if (there.atUnit())
    ++there.next;
}

void ReshapeReader::readMixed() {
  auto whole = [&](Side &side, int64_t size) {
    if (size > 1)
      side.factors[side.next - 1].push_back(rule.add(size, FactorKind::Whole));
  };
  whole(source, source.left);
  whole(target, target.left);
  while (source.left != target.left) {
    Side &behind = source.left < target.left ? source : target;
    int64_t size = behind.shape[behind.next++];
    behind.left *= size;
    whole(behind, size);
  }
  source.left = target.left = 1;
}

ShardingRule ReshapeReader::read() {
  while (true) {
    if (source.atUnit()) {
      readUnit(source, target);
      continue;
    }
    if (target.atUnit()) {
      readUnit(target, source);
      continue;
    }
    source.open();
    target.open();
    if (source.left == 1) // target.left is 1, too: both shapes have the same number of elements
      break;
    int64_t common = std::gcd(source.left, target.left);
    if (common == 1) {
      readMixed();
      continue;
    }
    unsigned factor = rule.add(common);
    for (Side *side : {&source, &target}) {
      side->factors[side->next - 1].push_back(factor);
      side->left /= common;
    }
  }
  rule.operands.push_back(source.factors);
  rule.results.push_back(target.factors);
  return std::move(rule);
}

ShardingRule braid::reshapeRule(Operation *op) {
  return ReshapeReader(shapeOf(op->getOperand(0).getType()), shapeOf(op->getResult(0).getType())).read();
}
