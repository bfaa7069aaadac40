//===- MergeContractions.cpp - merge contractions of one tensor -----------===//

#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Target/TargetInfo.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_MERGECONTRACTIONSPASS
#include "passes/FrontEnd/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using tg::ContractOp;

/// Returns the parameter that an operand is, or is converted from, if it has no other readers; else null.
static BlockArgument weightOf(Value operand) {
  Value source = conversionSource(operand) ? conversionSource(operand) : operand;
  auto argument = dyn_cast<BlockArgument>(source);
  bool isRead = argument && argument.hasOneUse() && operand.hasOneUse();
  return isRead && parameterOf(argument) && tg::typeOf(argument).getRank() == 2 ? argument : BlockArgument();
}

/// Whether the only reader of a contraction is an addition: a bias, which a library adds in its epilogue.
static bool hasBias(ContractOp contract) {
  return contract->hasOneUse() && isa<arith::AddFOp>(*contract->user_begin());
}

namespace {
/// A contraction with a weight stored as n x k, whose n dim becomes the last dim of the result.
struct Product {
  ContractOp contract;
  unsigned weight; ///< operand number of the weight
  BlockArgument parameter;
};

/// The properties that merged contractions share: the other operand, the einsum, the unit, type and columns of the
/// weights, and whether the weights are trained.
using Shared = std::tuple<Value, Attribute, unsigned, Attribute, Type, int64_t, unsigned>;
} // namespace

static std::optional<Product> productOf(ContractOp contract) {
  tg::ContractionAttr dims = contract.getContraction();
  for (unsigned operand : {1u, 0u}) {
    BlockArgument parameter = weightOf(contract->getOperand(operand));
    bool isStoredByRows = parameter && ArrayRef(dims.getContractedDims(operand)) == ArrayRef<int64_t>{1} &&
                          dims.getResult().back() == dims.getOperand(operand).front();
    if (isStoredByRows && !hasBias(contract))
      return Product{contract, operand, parameter};
  }
  return std::nullopt;
}

static Shared sharedBy(const Product &product) {
  ContractOp contract = product.contract;
  RankedTensorType weight = tg::typeOf(contract->getOperand(product.weight));
  tg::ParamAttr parameter = parameterOf(product.parameter);
  return {contract->getOperand(1 - product.weight),
          contract.getContraction(),
          product.weight,
          parameter.getUnit(),
          weight.getElementType(),
          weight.getDimSize(1),
          unsigned(parameter.getFrozen())};
}

/// Builds one contraction with the concatenated weights, and slices its result into one part per weight.
static void merge(ArrayRef<Product> products) {
  ContractOp first = products.front().contract;
  for (Product product : products)
    if (product.contract->isBeforeInBlock(first))
      first = product.contract;
  SmallVector<Value> weights;
  SmallVector<Location> locations;
  for (Product product : products) {
    Value weight = product.contract->getOperand(product.weight);
    if (Operation *conversion = weight.getDefiningOp(); conversion && first->isBeforeInBlock(conversion))
      conversion->moveBefore(first);
    weights.push_back(weight);
    locations.push_back(product.contract.getLoc());
  }
  OpBuilder builder(first);
  tg::TensorBuilder t(builder, builder.getFusedLoc(locations));
  Value all = t.make<tg::ConcatOp>(weights, /*dim=*/0);
  unsigned weight = products.front().weight;
  Value other = first->getOperand(1 - weight);
  Value product = t.make<ContractOp>(first.getContraction(), weight == 0 ? all : other, weight == 0 ? other : all);
  int64_t lanes = tg::typeOf(product).getRank() - 1, begin = 0;
  for (Product part : products) {
    tg::TensorBuilder at(builder, part.contract.getLoc());
    int64_t size = tg::typeOf(part.contract.getResult()).getDimSize(lanes);
    part.contract.replaceAllUsesWith(at.slice(product, lanes, begin, size));
    begin += size;
  }
  for (Product part : products)
    part.contract.erase();
}

namespace {
struct MergeContractions final : braid::impl::MergeContractionsPassBase<MergeContractions> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    const TargetInfo *target = targetOf(function);
    if (!target)
      return signalPassFailure();
    if (function.isExternal())
      return;
    llvm::MapVector<Shared, SmallVector<Product>> groups;
    for (auto contract : function.getOps<ContractOp>())
      if (std::optional<Product> product = productOf(contract); product && isAligned(*product, *target))
        groups[sharedBy(*product)].push_back(*product);
    for (auto &[shared, products] : groups) {
      // The planner places parameters next to each other in argument order.
      llvm::sort(products, [](const Product &a, const Product &b) {
        return a.parameter.getArgNumber() < b.parameter.getArgNumber();
      });
      if (products.size() > 1)
        merge(products);
    }
  }

private:
  /// Whether the end of this weight is aligned, so that another weight can follow directly.
  static bool isAligned(const Product &product, const TargetInfo &target) {
    ContractOp contract = product.contract;
    RankedTensorType type = tg::typeOf(contract->getOperand(product.weight));
    return type.getNumElements() * elementBytes(type.getElementType()) % target.alignment == 0;
  }
};
} // namespace
