//===- Inputs.cpp - values for the inputs of a program --------------------===//

#include "lib/Reference/Inputs.h"
#include "lib/Reference/Philox.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

static PhiloxKey keyOf(uint64_t seed) { return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}; }

/// Returns the Box-Muller normal number of two words.
static double normalOf(uint32_t first, uint32_t second) {
  double u = (first + 1.0) / 4294967296.0, v = second / 4294967296.0;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

Tensor braid::reference::initialValue(const InputSlot &slot, uint64_t seed) {
  Tensor result(slot.logicalType());
  tg::InitAttr init = slot.init;
  double a = init.getA().convertToDouble(), b = init.getB().convertToDouble();
  double scale = init.getLayers() ? 1 / std::sqrt(2.0 * init.getLayers()) : 1;
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t element = i;
    PhiloxCounter words =
        philox({static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32), 0, slot.stream}, keyOf(seed));
    double value = 0;
    switch (init.getKind()) {
    case tg::InitKind::Zeros:
      break;
    case tg::InitKind::Ones:
      value = 1;
      break;
    case tg::InitKind::Constant:
      value = a;
      break;
    case tg::InitKind::Normal:
      value = a + b * scale * normalOf(words[0], words[1]);
      break;
    case tg::InitKind::Uniform:
      value = scale * (a + (b - a) * uniformOf(words[0]));
      break;
    }
    result[i] = result.hasFloats() ? ofFloat(value) : ofInt(static_cast<int64_t>(value));
  }
  result.round();
  return result;
}

/// FNV-1a hash: gives every input its own random stream.
static uint32_t hashOf(StringRef name) {
  uint32_t hash = 2166136261;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash;
}

/// Returns random normal floats (positive for states, because moments are), or ints below the bound.
static Tensor randomValue(const InputSlot &slot, const InputOptions &options) {
  Tensor result(slot.logicalType());
  int64_t bound = result.elementType.isInteger(1) ? 2 : slot.bound ? slot.bound : 8;
  for (int64_t i = 0; i < result.size(); ++i) {
    PhiloxCounter words = philox({static_cast<uint32_t>(i), 0, 0xB4A1D, hashOf(slot.name)}, keyOf(options.seed));
    if (result.hasFloats()) {
      double value = normalOf(words[0], words[1]);
      result.f(i) = slot.kind == InputKind::State ? std::abs(value) : value;
    } else if (slot.ignoreIndex && uniformOf(words[1]) < options.ignoredShare) {
      result.n(i) = *slot.ignoreIndex;
    } else {
      result.n(i) = words[0] % bound;
    }
  }
  result.round();
  return result;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static Tensor splat(const InputSlot &slot, double value) {
  Tensor result(slot.logicalType());
  for (Element &e : result.elements)
    e = result.hasFloats() ? ofFloat(value) : ofInt(static_cast<int64_t>(value));
  result.round();
  return result;
}

/// Returns the default of a run-time scalar whose role has one.
static std::optional<Tensor> defaultOfRole(const InputSlot &slot, const InputOptions &options) {
  if (slot.role == "lr")
    return splat(slot, 1e-3);
  if (slot.role == "step")
    return splat(slot, options.step);
  if (slot.role == "position")
    return splat(slot, 0);
  if (slot.role != "key" || slot.type.getNumElements() != 4)
    return std::nullopt;
  Tensor key(slot.type);
  PhiloxKey seed = keyOf(options.seed);
  key.n(0) = static_cast<int32_t>(seed[0]);
  key.n(1) = static_cast<int32_t>(seed[1]);
  key.n(2) = options.step;
  key.n(3) = options.microbatch;
  return key;
}

/// Converts a file's tensor to the input's type: ints must fit, floats are rounded.
static llvm::Expected<Tensor> fromFile(const InputSlot &slot, const Tensor &found) {
  Tensor result(slot.logicalType());
  if (found.shape != result.shape)
    return llvm::createStringError("input '%s' has the shape %s but its tensor in the file is %s", slot.name.c_str(),
                                   indexText(result.shape).c_str(), indexText(found.shape).c_str());
  if (found.hasFloats() != result.hasFloats())
    return llvm::createStringError("input '%s' and its tensor in the file are not both floats or both ints",
                                   slot.name.c_str());
  result.elements = found.elements;
  for (Element &e : result.elements)
    if (!result.hasFloats() && wrapTo(result.elementType, e.i) != e.i)
      return llvm::createStringError("input '%s': %lld in the file does not fit its type", slot.name.c_str(),
                                     static_cast<long long>(e.i));
  result.round();
  return result;
}

/// Returns the tensor of a name with a star: the tensors with a number in its place, from 0 on,
/// stacked along a new dim 0.
static std::optional<Tensor> stackOf(const Values &file, const std::string &name) {
  size_t star = name.find('*');
  std::optional<Tensor> all;
  while (star != std::string::npos) {
    std::string number = std::to_string(all ? all->shape[0] : 0);
    auto part = file.find(std::string(name).replace(star, 1, number));
    if (part == file.end())
      break;
    Index shape(part->second.shape);
    shape.insert(shape.begin(), all ? all->shape[0] + 1 : 1);
    if (!all)
      all = Tensor({0}, part->second.elementType);
    all->shape = shape;
    llvm::append_range(all->elements, part->second.elements);
  }
  return all;
}

llvm::Expected<Tensor> braid::reference::makeInput(const InputSlot &slot, const InputOptions &options) {
  auto number = options.numbers.find(slot.name);
  if (number != options.numbers.end())
    return splat(slot, number->second);
  if (options.file) {
    auto found = options.file->find(options.prefix + slot.name);
    if (found != options.file->end())
      return fromFile(slot, found->second);
    if (std::optional<Tensor> stack = stackOf(*options.file, options.prefix + slot.name))
      return fromFile(slot, *stack);
  }
  if (slot.init && (options.initialize || slot.isAccumulator))
    return initialValue(slot, options.seed);
  if (std::optional<Tensor> value = defaultOfRole(slot, options))
    return *value;
  return randomValue(slot, options);
}

/// Makes a working copy from its rounded master, or from the value that the master would have. A value given
/// for the copy itself takes precedence.
static llvm::Expected<Tensor> makeCopy(const InputSlot &slot, const InputOptions &options, const Values &values) {
  if (options.numbers.count(slot.name) || (options.file && options.file->count(options.prefix + slot.name)))
    return makeInput(slot, options);
  auto master = values.find(slot.copyOf);
  if (master != values.end())
    return fromFile(slot, master->second);
  InputSlot unrounded = slot;
  unrounded.name = slot.copyOf;
  return makeInput(unrounded, options);
}

llvm::Error braid::reference::makeInputs(const Program &program, const InputOptions &options, Values &values) {
  for (bool copies : {false, true})
    for (const InputSlot &slot : program.inputs) {
      if (values.count(slot.name) || copies == slot.copyOf.empty())
        continue;
      llvm::Expected<Tensor> value = copies ? makeCopy(slot, options, values) : makeInput(slot, options);
      if (!value)
        return value.takeError();
      values.emplace(slot.name, std::move(*value));
    }
  return llvm::Error::success();
}
