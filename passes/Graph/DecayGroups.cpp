//===- DecayGroups.cpp - which parameters decay ---------------------------===//

#include "passes/Graph/DecayGroups.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Graph/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

static constexpr llvm::StringLiteral kDecayGroup = "tg.decay_group";

namespace {
/// What reads a parameter, through ops that only hand it on.
struct Readers {
  bool contracts = false, gathers = false, norms = false;

  explicit Readers(Value value) { visit(value); }

private:
  void visit(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      NumericKind kind = numericKindOf(user);
      contracts |= kind == NumericKind::Contraction;
      gathers |= kind == NumericKind::Embedding && use.getOperandNumber() == 0;
      norms |= kind == NumericKind::Norm && typeOf(value).getRank() == 1; // what is normalized has rows
      if (handsOnNumbers(user))
        for (Value result : user->getResults())
          visit(result);
    }
  }
};
} // namespace

StringRef braid::decayGroupOf(BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  if (auto noted = function.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), kDecayGroup))
    return noted.getValue();
  Readers readers(parameter);
  if (readers.norms)
    return "norms";
  if (typeOf(parameter).getRank() <= 1)
    return "biases";
  return readers.gathers || !readers.contracts ? "embeddings" : "weights";
}

void braid::noteDecayGroups(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (parameterOf(argument))
      function.setArgAttr(argument.getArgNumber(), kDecayGroup,
                          StringAttr::get(function.getContext(), decayGroupOf(argument)));
}

void braid::forgetDecayGroups(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    function.removeArgAttr(argument.getArgNumber(), StringAttr::get(function.getContext(), kDecayGroup));
}
