//===- UnfuseWeights.cpp - make the parts of fused weights a dim ----------===//
//
// Files store a [q|k|v] weight as one matrix. If that dim were sharded in equal blocks, a rank would hold all of q and
// some of k. With the parts as a separate dim, the dim behind it is sharded like any other, and no pass needs to know
// about the parts.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/FileLayout.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/DimFlow.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_UNFUSEWEIGHTSPASS
#include "passes/FrontEnd/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using tg::BroadcastOp;
using tg::ContractOp;
using tg::SliceOp;

/// Upper limit of dims of a tensor in the runtime.
static constexpr int64_t kMaxDims = 8;

namespace {
/// A tensor that is read in slices along one dim, and the values that must get a separate dim for the parts: its
/// predecessors up to the parameters.
class FusedTensor {
public:
  FusedTensor(Value root, int64_t dim, int64_t parts) : root(root), dim(dim), parts(parts) {}

  /// Follows the dim to parameters. Returns false if a value on the path lacks the dim or has other readers.
  bool plan() { return follow(root, dim) && !weights.empty() && isReadHereAlone(); }
  /// Rewrites all values, after `plan`.
  void rewrite(func::FuncOp function);

private:
  bool follow(Value value, int64_t along);
  bool isReadHereAlone() const;
  RankedTensorType divided(RankedTensorType type, int64_t along) const;
  Operation *divide(OpBuilder &builder, Operation *op);
  Operation *divide(OpBuilder &builder, ContractOp op, int64_t along);
  Operation *divide(OpBuilder &builder, BroadcastOp op, int64_t along);
  void divideWeights(func::FuncOp function);
  void divideSlices();

  Value root;
  int64_t dim, parts;
  /// The dim along which each value changes.
  llvm::MapVector<Value, int64_t> dims;
  SmallVector<BlockArgument> weights;
  IRMapping made;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values that have to change
//===----------------------------------------------------------------------===//

bool FusedTensor::follow(Value value, int64_t along) {
  if (auto known = dims.find(value); known != dims.end())
    return known->second == along;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == kMaxDims || along >= type.getRank() || type.getDimSize(along) % parts != 0)
    return false;
  dims[value] = along;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    tg::ParamAttr param = parameterOf(argument);
    weights.push_back(argument);
    return param && tg::fileLayoutOf(param) == tg::FileLayout();
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumResults() != 1 || !(isa<ContractOp, BroadcastOp>(op) || op->hasTrait<OpTrait::Elementwise>()))
    return false;
  std::optional<FactorDims> linked = FactorDims::through(op, value, along);
  return linked && llvm::all_of(llvm::zip_equal(op->getOperands(), linked->operands), [&](auto pair) {
           auto [operand, at] = pair;
           return !at || follow(operand, *at);
         });
}

bool FusedTensor::isReadHereAlone() const {
  return llvm::all_of(dims, [&](const auto &entry) {
    return entry.first == root || llvm::all_of(entry.first.getUsers(), [&](Operation *user) {
             return user->getNumResults() == 1 && dims.contains(user->getResult(0));
           });
  });
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

RankedTensorType FusedTensor::divided(RankedTensorType type, int64_t along) const {
  SmallVector<int64_t> shape(type.getShape());
  shape[along] /= parts;
  shape.insert(shape.begin() + along, parts);
  return type.clone(shape);
}

/// Returns a letter that the einsum does not use.
static char freeLetter(tg::ContractionAttr einsum) {
  for (char letter = 'a';; ++letter)
    if (einsum.getSpec().find(letter) == std::string::npos)
      return letter;
}

Operation *FusedTensor::divide(OpBuilder &builder, ContractOp op, int64_t along) {
  tg::ContractionAttr einsum = op.getContraction();
  char letter = einsum.getResult()[along], part = freeLetter(einsum);
  auto withPart = [&](StringRef letters) {
    std::string text = letters.str();
    if (size_t at = text.find(letter); at != std::string::npos)
      text.insert(at, 1, part);
    return text;
  };
  auto attribute = tg::ContractionAttr::get(builder.getContext(), withPart(einsum.getLhs()), withPart(einsum.getRhs()),
                                            withPart(einsum.getResult()));
  return builder.create<ContractOp>(op.getLoc(), divided(op.getType(), along), attribute,
                                    made.lookupOrDefault(op.getLhs()), made.lookupOrDefault(op.getRhs()));
}

Operation *FusedTensor::divide(OpBuilder &builder, BroadcastOp op, int64_t along) {
  SmallVector<int64_t> to;
  for (int64_t place : op.getDims()) {
    to.push_back(place + (place > along));
    if (place == along && dims.contains(op.getInput()))
      to.push_back(place + 1);
  }
  return builder.create<BroadcastOp>(op.getLoc(), divided(op.getType(), along), made.lookupOrDefault(op.getInput()),
                                     to);
}

Operation *FusedTensor::divide(OpBuilder &builder, Operation *op) {
  int64_t along = dims.lookup(op->getResult(0));
  if (auto contract = dyn_cast<ContractOp>(op))
    return divide(builder, contract, along);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return divide(builder, broadcast, along);
  Operation *copy = builder.clone(*op, made);
  copy->getResult(0).setType(divided(tg::typeOf(op->getResult(0)), along));
  return copy;
}

void FusedTensor::divideWeights(func::FuncOp function) {
  for (BlockArgument weight : weights) {
    int64_t along = dims.lookup(weight);
    unsigned number = weight.getArgNumber();
    tg::ParamAttr param = parameterOf(weight);
    weight.setType(divided(tg::typeOf(weight), along));
    function.setArgAttr(number, tg::kParam,
                        tg::ParamAttr::get(param.getContext(), param.getName(), param.getInit(), param.getUnit(),
                                           param.getCopyOf(), param.getFrozen(), /*transposed=*/false,
                                           /*fused=*/along));
    auto sharding = function.getArgAttrOfType<comm::ShardingAttr>(number, comm::CommDialect::kSharding);
    if (!sharding)
      continue;
    SmallVector<comm::AxesAttr> axes(sharding.getDims());
    axes.insert(axes.begin() + along, comm::AxesAttr::get(param.getContext()));
    function.setArgAttr(number, comm::CommDialect::kSharding, sharding.withDims(axes));
  }
}

/// Makes each slice pick one of the parts.
void FusedTensor::divideSlices() {
  for (Operation *user : llvm::make_early_inc_range(root.getUsers())) {
    auto slice = cast<SliceOp>(user);
    OpBuilder builder(slice);
    tg::TensorBuilder t(builder, slice.getLoc());
    int64_t size = slice.getType().getDimSize(dim);
    Value part = t.slice(made.lookup(root), dim, slice.getOffset() / size, 1);
    slice.replaceAllUsesWith(t.reshape(part, slice.getType().getShape()));
    slice.erase();
  }
}

void FusedTensor::rewrite(func::FuncOp function) {
  divideWeights(function);
  SmallVector<Operation *> old;
  for (Operation &op : function.front())
    if (op.getNumResults() == 1 && dims.contains(op.getResult(0)))
      old.push_back(&op);
  for (Operation *op : old) {
    OpBuilder builder(op);
    made.map(op->getResult(0), divide(builder, op)->getResult(0));
  }
  divideSlices();
  for (Operation *op : llvm::reverse(old))
    op->erase();
}

//===----------------------------------------------------------------------===//
// Search for fused tensors
//===----------------------------------------------------------------------===//

/// Returns the number of equal parts that readers slice a tensor into, and the dim.
static std::optional<std::pair<int64_t, int64_t>> partsOf(Value tensor) {
  SliceOp first;
  for (Operation *user : tensor.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      return std::nullopt;
    first = first ? first : slice;
    int64_t size = slice.getType().getDimSize(slice.getDim());
    if (slice.getDim() != first.getDim() || slice.getType() != first.getType() || slice.getOffset() % size != 0)
      return std::nullopt;
  }
  if (!first)
    return std::nullopt;
  int64_t dim = first.getDim(), whole = tg::typeOf(tensor).getDimSize(dim), size = first.getType().getDimSize(dim);
  if (whole % size != 0 || whole == size)
    return std::nullopt;
  return std::pair(dim, whole / size);
}

namespace {
struct UnfuseWeights final : braid::impl::UnfuseWeightsPassBase<UnfuseWeights> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (tg::ResultAttrs(function, i).gradientOf) {
        function.emitError() << "weights of '" << function.getName()
                             << "' have gradients already; run tg-unfuse-weights before tg-differentiate";
        return signalPassFailure();
      }
    // The predecessors of a candidate are not read in slices themselves.
    SmallVector<FusedTensor> candidates;
    for (Operation &op : function.front())
      for (Value result : op.getResults())
        if (auto found = partsOf(result))
          candidates.emplace_back(result, found->first, found->second);
    for (FusedTensor &fused : candidates)
      if (fused.plan())
        fused.rewrite(function);
    updateType(function);
  }
};
} // namespace
