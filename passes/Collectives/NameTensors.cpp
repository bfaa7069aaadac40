//===- NameTensors.cpp - name the tensors that a collective sends ---------===//
//
// A tensor is named after the parameter or state in its facts. An argument of the program has its own name. A scalar
// has the name of the function result to which it contributes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/TensorNames.h"
#include "passes/Base/Signature.h"
#include "passes/Collectives/CollectiveRoles.h"
#define GEN_PASS_DEF_NAMETENSORSPASS
#include "passes/Collectives/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
class Namer {
public:
  explicit Namer(func::FuncOp function) : function(function), owners(function) { findUsesOfParameters(); }

  /// Names the tensors that a collective sends, if all of them have a name.
  void name(CollectiveOpInterface op) const;

private:
  void findUsesOfParameters();
  StringRef nameOf(BlockArgument argument) const;
  StringRef nameOfSent(Value sent) const;
  StringRef nameOfNumber(Value sent, Value result) const;
  StringRef outputName(unsigned result) const;
  std::optional<unsigned> firstResult(Value number) const;

  func::FuncOp function;
  TensorOwners owners;
  /// Values that depend on parameters; all others depend on the batch alone.
  DenseSet<Value> madeOfParameters;
};
} // namespace

/// Whether a value is a tensor without dims.
static bool isNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

void Namer::findUsesOfParameters() {
  for (BlockArgument argument : function.getArguments())
    if (parameterOf(argument))
      madeOfParameters.insert(argument);
  for (Operation &op : function.front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return madeOfParameters.contains(operand); }))
      madeOfParameters.insert(op.result_begin(), op.result_end());
}

StringRef Namer::nameOf(BlockArgument argument) const {
  StringAttr name = tg::nameOf(func::FuncOp(function).getArgAttrDict(argument.getArgNumber()));
  return name ? name.getValue() : StringRef();
}

/// Returns the name of the argument that `sent` equals, up to its type and layout.
StringRef Namer::nameOfSent(Value sent) const {
  while (Operation *op = sent.getDefiningOp()) {
    if (!tg::movesElements(op))
      return {};
    sent = op->getOperand(0);
  }
  return nameOf(cast<BlockArgument>(sent));
}

/// Returns the name of a result in reports: its role, or its name in the graph.
StringRef Namer::outputName(unsigned result) const {
  tg::ResultAttrs attributes(func::FuncOp(function), result);
  if (attributes.role)
    return tg::stringifyRole(attributes.role.getValue());
  return attributes.output ? attributes.output.getValue() : StringRef();
}

/// Returns the first named result of the function that a scalar reaches through scalars.
std::optional<unsigned> Namer::firstResult(Value number) const {
  std::optional<unsigned> first;
  llvm::SetVector<Value> reached;
  reached.insert(number);
  for (unsigned next = 0; next < reached.size(); ++next)
    for (OpOperand &use : reached[next].getUses()) {
      unsigned index = use.getOperandNumber();
      if (!isa<func::ReturnOp>(use.getOwner())) {
        if (llvm::all_of(use.getOwner()->getResults(), isNumber))
          reached.insert(use.getOwner()->result_begin(), use.getOwner()->result_end());
      } else if (!outputName(index).empty() && (!first || index < *first)) {
        first = index;
      }
    }
  return first;
}

StringRef Namer::nameOfNumber(Value sent, Value result) const {
  std::optional<unsigned> index = firstResult(result);
  if (!index)
    return {};
  // The count divides the loss.
  if (!madeOfParameters.contains(sent))
    return argumentWithRole(function, tg::Role::Tokens) ? "token count" : "count";
  return outputName(*index);
}

void Namer::name(CollectiveOpInterface op) const {
  OperandRange sent = op.getSent();
  bool isOneForOne = op->getNumResults() == sent.size();
  SmallVector<StringRef> names;
  for (auto [index, value] : llvm::enumerate(sent)) {
    BlockArgument owner = owners.ownerOf(tg::factsOfTensor(op.getLoc(), index, sent.size()));
    StringRef name = owner && parameterOf(owner) ? nameOf(owner) : nameOfSent(value);
    if (name.empty() && isOneForOne && isNumber(value))
      name = nameOfNumber(value, op->getResult(index));
    if (name.empty() && owner)
      name = nameOf(owner);
    if (name.empty())
      return;
    names.push_back(name);
  }
  if (!names.empty())
    setTensorNames(op, names);
}

namespace {
struct NameTensors final : braid::impl::NameTensorsPassBase<NameTensors> {
  using NameTensorsPassBase::NameTensorsPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    markAllAnalysesPreserved();
    if (function.isExternal() || !function->hasAttr(CommDialect::kProgram))
      return;
    Namer namer(function);
    function.walk([&](CollectiveOpInterface op) { namer.name(op); });
  }
};
} // namespace
