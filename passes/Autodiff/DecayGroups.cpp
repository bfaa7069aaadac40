//===- DecayGroups.cpp - weight decay groups of parameters ----------------===//
//
// The group of a parameter follows from its readers and dims. Layout passes change both: the bias of q, k and v gets a
// second dim. So the group is stored once, before these passes, and no later pass looks at shapes.
//
//===----------------------------------------------------------------------===//

#include "passes/Autodiff/DecayGroups.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/TGBuilder.h"
#define GEN_PASS_DEF_NOTEGROUPSPASS
#include "passes/Autodiff/Passes.h"
#include "passes/Base/Signature.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

static constexpr llvm::StringLiteral kDecayGroup = "tg.decay_group";

namespace {
/// The kinds of ops that read a parameter, directly or through ops that only move its elements.
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
      norms |= kind == NumericKind::Norm && typeOf(value).getRank() == 1; // the normalized value has rows
      if (onlyMovesOrRounds(user))
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

void braid::removeDecayGroups(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    function.removeArgAttr(argument.getArgNumber(), StringAttr::get(function.getContext(), kDecayGroup));
}

namespace {
struct NoteGroups final : braid::impl::NoteGroupsPassBase<NoteGroups> {
  void runOnOperation() final {
    if (!getOperation().isExternal())
      noteDecayGroups(getOperation());
  }
};
} // namespace
