//===- Optimizer.cpp - optimizers by name, and the op of an update --------===//

#include "dialects/TG/Optimizer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Optimizers by name
//===----------------------------------------------------------------------===//

ArrayRef<const Optimizer *> braid::tg::allOptimizers() {
  static const SmallVector<const Optimizer *> all = [] {
    SmallVector<const Optimizer *> found;
#define BRAID_OPTIMIZERS(FILE)                                                                                         \
  for (const Optimizer &optimizer : optimizers::FILE())                                                                \
    found.push_back(&optimizer);
#include "dialects/TG/Optimizers.inc"
#undef BRAID_OPTIMIZERS
    return found;
  }();
  return all;
}

static const Optimizer *lookupOptimizer(StringRef name) {
  const auto *found =
      llvm::find_if(allOptimizers(), [&](const Optimizer *optimizer) { return optimizer->name == name; });
  return found == allOptimizers().end() ? nullptr : *found;
}

FailureOr<const Optimizer *> braid::tg::findOptimizer(StringRef name, EmitError emitError) {
  if (const Optimizer *found = lookupOptimizer(name))
    return found;
  auto names = llvm::map_range(allOptimizers(), [](const Optimizer *optimizer) { return optimizer->name; });
  return emitError() << "unknown optimizer '" << name << "' (optimizers: " << llvm::join(names, ", ") << ")";
}

const Optimizer &braid::tg::optimizerOf(UpdateOp op) { return *lookupOptimizer(op.getOptimizer()); }

LogicalResult braid::tg::verifyHyperparameters(const Optimizer &optimizer, DictionaryAttr values, EmitError emitError) {
  for (const Hyperparameter &one : optimizer.hyperparameters) {
    auto value = values.getAs<FloatAttr>(one.name);
    if (!value || !value.getType().isF64())
      return emitError() << optimizer.name << " needs a number for " << one.name << ", found " << values;
    if (!one.range.contains(value.getValueAsDouble()))
      return emitError() << one.name << " of " << optimizer.name << " must be " << one.range.words << ", found "
                         << value.getValueAsDouble();
  }
  for (NamedAttribute value : values)
    if (llvm::none_of(optimizer.hyperparameters,
                      [&](const Hyperparameter &one) { return one.name == value.getName(); }))
      return emitError() << optimizer.name << " has no hyperparameter '" << value.getName().getValue() << "' (it has "
                         << hyperparametersText(optimizer) << ")";
  return success();
}

std::string braid::tg::hyperparametersText(const Optimizer &optimizer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(optimizer.hyperparameters, os,
                        [&](const Hyperparameter &one) { os << one.name << "=" << llvm::format("%g", one.fallback); });
  return text;
}

//===----------------------------------------------------------------------===//
// Update op
//===----------------------------------------------------------------------===//

LogicalResult UpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getParam().getType());
  llvm::append_range(types, adaptor.getStates().getTypes());
  return success();
}

LogicalResult UpdateOp::verify() {
  FailureOr<const Optimizer *> found = findOptimizer(getOptimizer(), [&] { return emitOpError(); });
  if (failed(found))
    return failure();
  const Optimizer &optimizer = **found;
  RankedTensorType param = getParam().getType();
  auto expect = [&](const Twine &what, Type type, Type expected) -> LogicalResult {
    if (type == expected)
      return success();
    return emitOpError() << what << " is " << type << " but the parameter, " << param << ", needs " << expected;
  };
  if (failed(expect("the gradient", getGradient().getType(), param)) ||
      failed(expect("lr", getLr().getType(), withShape(param, {}))))
    return failure();
  if (optimizer.readsStep != static_cast<bool>(getStep()))
    return emitOpError() << optimizer.name
                         << (optimizer.readsStep ? " reads the step; give it as an operand"
                                                 : " does not read the step; drop the operand");
  if (getStep() && getStep().getType().getRank() != 0)
    return emitOpError() << "the step must be a scalar, found " << getStep().getType();
  if (optimizer.states.size() != getStates().size())
    return emitOpError() << optimizer.name << " has " << optimizer.states.size() << " states ("
                         << llvm::join(optimizer.states, ", ") << "), found " << getStates().size();
  for (auto [name, state] : llvm::zip(optimizer.states, getStates()))
    if (failed(expect("the state " + name, state.getType(), param)))
      return failure();
  return verifyHyperparameters(optimizer, getHyperparameters(), [&] { return emitOpError(); });
}

int64_t UpdateOp::getFlops() { return optimizerOf(*this).flopsOfElement * getParam().getType().getNumElements(); }

SmallVector<Value> UpdateOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this, getOptimizer()));
  UpdateValues values{{getHyperparameters()}, t.widen(getParam()), t.widen(getGradient()),
                      t.widen(getLr()),       getStep(),           {}};
  for (Value state : getStates())
    values.states.push_back(t.widen(state));
  SmallVector<Value> results = optimizerOf(*this).update(t, values);
  for (Value &result : results)
    result = t.convert(result, getParam().getType().getElementType());
  return results;
}
