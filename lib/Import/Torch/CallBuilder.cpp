//===- CallBuilder.cpp - arguments and results of a call ------------------===//

#include "lib/Import/Torch/Translation.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

const Argument *CallBuilder::find(StringRef name) const {
  for (const auto &[key, argument] : call.arguments)
    if (key == name)
      return &argument;
  return nullptr;
}

template <class T> static T argumentOr(const Argument *argument, T fallback) {
  if (const T *value = argument ? std::get_if<T>(argument) : nullptr)
    return *value;
  return fallback;
}

bool CallBuilder::has(StringRef name) const {
  const Argument *argument = find(name);
  return argument && !std::holds_alternative<std::monostate>(*argument);
}
bool CallBuilder::isNumber(StringRef name) const {
  const Argument *argument = find(name);
  return argument && (std::holds_alternative<int64_t>(*argument) || std::holds_alternative<double>(*argument) ||
                      std::holds_alternative<bool>(*argument));
}
int64_t CallBuilder::integer(StringRef name, int64_t fallback) const { return argumentOr(find(name), fallback); }
bool CallBuilder::boolean(StringRef name, bool fallback) const { return argumentOr(find(name), fallback); }
StringRef CallBuilder::string(StringRef name) const {
  const Argument *argument = find(name);
  const std::string *text = argument ? std::get_if<std::string>(argument) : nullptr;
  return text ? StringRef(*text) : StringRef();
}
double CallBuilder::number(StringRef name, double fallback) const {
  const Argument *argument = find(name);
  if (const int64_t *integer = argument ? std::get_if<int64_t>(argument) : nullptr)
    return *integer;
  if (const bool *flag = argument ? std::get_if<bool>(argument) : nullptr)
    return *flag;
  return argumentOr(argument, fallback);
}
Integers CallBuilder::integers(StringRef name) const { return argumentOr(find(name), Integers()); }
Numbers CallBuilder::numbers(StringRef name) const { return argumentOr(find(name), Numbers()); }
std::optional<ScalarType> CallBuilder::element(StringRef name) const {
  const Argument *argument = find(name);
  const ScalarType *type = argument ? std::get_if<ScalarType>(argument) : nullptr;
  return type ? std::optional(*type) : std::nullopt;
}
const TensorNames &CallBuilder::tensors(StringRef name) const { return std::get<TensorNames>(*find(name)); }
const TypeOfTensor &CallBuilder::typeOfArgument(StringRef name) const {
  return translator.typeOf(std::get<TensorName>(*find(name)).name);
}
Value CallBuilder::tensor(StringRef name) { return tensorNamed(std::get<TensorName>(*find(name)).name); }
const MaybeKnown &CallBuilder::known(StringRef name) { return knownNamed(std::get<TensorName>(*find(name)).name); }
const MaybeKnown &CallBuilder::knownNamed(StringRef tensor) {
  return translator.operands[translator.memory.canonical(tensor)].known;
}
Value CallBuilder::tensorNamed(StringRef tensor) { return translator.valueOf(tensor, loc); }

int64_t CallBuilder::dim(StringRef name, int64_t rank, int64_t fallback) {
  int64_t given = integer(name, fallback), dim = given < 0 ? given + rank : given;
  if (dim >= 0 && dim < rank)
    return dim;
  fail("dim " + Twine(given) + " is none of a tensor with " + Twine(rank) + " dims");
  return -1;
}

const TypeOfTensor &CallBuilder::resultType(unsigned number) const { return translator.typeOf(call.results[number]); }
RankedTensorType CallBuilder::resultTensor(unsigned number) const {
  return translator.tensorType(resultType(number), loc, call.results[number]);
}
Value CallBuilder::key() { return translator.randomKey(); }
int64_t CallBuilder::nextStream() { return translator.streams++; }

Value CallBuilder::fail(const Twine &message) {
  hasReported = true;
  emitError(loc) << call.op << ": " << message;
  return {};
}

/// Whether integers or booleans were computed from floats.
static bool dependsOnFloats(Value a) {
  SmallVector<Value> left{a};
  llvm::DenseSet<Value> seen;
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (tg::isFloat(value))
      return true;
    if (Operation *op = value.getDefiningOp(); op && seen.insert(value).second)
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

Value CallBuilder::convert(Value a, Type element) {
  if (element.isInteger(1))
    return asCondition(a);
  bool cuts = !tg::isFloat(a) && isa<FloatType>(element) && dependsOnFloats(a);
  Value converted = TensorBuilder::convert(a, element);
  return cuts ? make<tg::StopGradientOp>(converted) : converted;
}

Value CallBuilder::asCondition(Value a) {
  if (tg::typeOf(a).getElementType().isInteger(1))
    return a;
  Value zero = zeros(tg::typeOf(a));
  return tg::isFloat(a) ? compare(arith::CmpFPredicate::UNE, a, zero) : compare(arith::CmpIPredicate::ne, a, zero);
}

Value CallBuilder::expand(Value a, ArrayRef<int64_t> shape) {
  RankedTensorType type = tg::typeOf(a);
  if (type.getShape() == shape)
    return a;
  int64_t lead = static_cast<int64_t>(shape.size()) - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (lead < 0 || (type.getDimSize(dim) != 1 && type.getDimSize(dim) != shape[lead + dim]))
      return fail("shapes do not broadcast");
  // A reshape that only added dims of size 1 is part of the broadcast.
  SmallVector<int64_t> dims = tg::dimRange(lead, shape.size());
  if (auto reshape = a.getDefiningOp<tg::ReshapeOp>()) {
    SmallVector<int64_t> kept, sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) != 1) {
        kept.push_back(lead + dim);
        sizes.push_back(type.getDimSize(dim));
      }
    if (tg::typeOf(reshape.getInput()).getShape() == ArrayRef(sizes))
      return broadcast(reshape.getInput(), tg::withShape(type, shape), kept);
  }
  return broadcast(a, tg::withShape(type, shape), dims);
}

Value CallBuilder::filled(RankedTensorType type, double number) {
  bool fits = isa<FloatType>(type.getElementType()) || (number == std::floor(number) && std::abs(number) <= INT32_MAX);
  return fits ? constant(type, number) : fail(std::to_string(number) + " is no integer of 32 bits");
}

Value CallBuilder::operand(StringRef name, Type element) {
  RankedTensorType type = RankedTensorType::get(resultType().shape, element);
  if (isNumber(name))
    return filled(type, number(name));
  if (Value value = expand(convert(tensor(name), element), type.getShape()))
    return value;
  translator.hasFailed = true;
  return zeros(type);
}

std::optional<Integers> CallBuilder::perDim(StringRef name, size_t dims, int64_t fallback) {
  Integers given = integers(name);
  if (given.empty())
    given.push_back(isNumber(name) ? integer(name) : fallback);
  if (given.size() == 1)
    given.resize(dims, given.front());
  constexpr int64_t kMost = int64_t(1) << 30;
  if (any_of(given, [](int64_t number) { return number < -kMost || number > kMost; })) {
    fail("'" + name + "' has a number above 2^30 in magnitude");
    return std::nullopt;
  }
  if (given.size() == dims)
    return given;
  fail("'" + name + "' has " + Twine(given.size()) + " numbers for " + Twine(dims) + " dims");
  return std::nullopt;
}
