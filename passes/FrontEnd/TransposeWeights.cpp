//===- TransposeWeights.cpp - store weights n x k, for faster GEMMs -------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_TRANSPOSEWEIGHTSPASS
#include "passes/FrontEnd/Passes.h"

using namespace mlir;
using namespace braid;
using tg::ContractOp;

/// Whether the parameter is used in contractions, and always contracted over dim 0 alone.
static bool isStoredByRows(BlockArgument weight) {
  bool found = false;
  for (OpOperand &use : weight.getUses()) {
    if (numericKindOf(use.getOwner()) == NumericKind::Embedding)
      return false;
    auto contract = dyn_cast<ContractOp>(use.getOwner());
    if (!contract)
      continue;
    if (ArrayRef(contract.getContraction().getContractedDims(use.getOperandNumber())) != ArrayRef<int64_t>{0})
      return false;
    found = true;
  }
  return found;
}

/// Swaps the two letters of one operand in an einsum.
static void swapLetters(ContractOp contract, unsigned operand) {
  tg::ContractionAttr dims = contract.getContraction();
  std::string lhs = dims.getLhs().str(), rhs = dims.getRhs().str();
  std::string &letters = operand == 0 ? lhs : rhs;
  std::swap(letters[0], letters[1]);
  contract.setContractionAttr(dims.withOperands(lhs, rhs));
}

static void exchange(func::FuncOp function, BlockArgument weight) {
  RankedTensorType logical = tg::typeOf(weight);
  weight.setType(tg::withShape(logical, {logical.getDimSize(1), logical.getDimSize(0)}));
  tg::ParamAttr param = parameterOf(weight);
  function.setArgAttr(weight.getArgNumber(), tg::kParam,
                      tg::ParamAttr::get(param.getContext(), param.getName(), param.getInit(), param.getUnit(),
                                         param.getCopyOf(), param.getFrozen(), !param.getTransposed(),
                                         param.getFused()));

  if (auto sharding =
          function.getArgAttrOfType<comm::ShardingAttr>(weight.getArgNumber(), comm::CommDialect::kSharding))
    function.setArgAttr(weight.getArgNumber(), comm::CommDialect::kSharding,
                        sharding.withDims({sharding.getDims()[1], sharding.getDims()[0]}));

  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Value transposed; // for the other uses, made on the first of them
  for (OpOperand &use : llvm::make_early_inc_range(weight.getUses())) {
    if (auto contract = dyn_cast<ContractOp>(use.getOwner())) {
      swapLetters(contract, use.getOperandNumber());
      continue;
    }
    if (!transposed)
      transposed = builder.create<tg::TransposeOp>(weight.getLoc(), weight, ArrayRef<int64_t>{1, 0});
    if (use.getOwner() != transposed.getDefiningOp())
      use.set(transposed);
  }
}

namespace {
struct TransposeWeights final : braid::impl::TransposeWeightsPassBase<TransposeWeights> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // A new value of a weight has the shape that the function gives it.
    tg::ProgramSignature signature(function);
    SmallVector<BlockArgument> weights;
    for (BlockArgument argument : function.getArguments())
      if (parameterOf(argument) && tg::typeOf(argument).getRank() == 2 && isStoredByRows(argument) &&
          !signature.updateOf(argument))
        weights.push_back(argument);
    if (weights.empty())
      return;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (signature.result(i).gradientOf) {
        function.emitError() << "weights of '" << function.getName()
                             << "' have gradients already; run tg-transpose-weights before tg-differentiate";
        return signalPassFailure();
      }
    for (BlockArgument weight : weights)
      exchange(function, weight);
    updateType(function);
  }
};
} // namespace
