//===- Attention.cpp - attention as one library call ----------------------===//

#include "dialects/Exec/Exec.h"
#include "runtime/AttentionTile.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  collectEffects(*this, effects);
}
OperandRange AttentionOp::getActionIns() { return getOperation()->getOperands().drop_back(getOuts().size()); }
OperandRange AttentionOp::getActionOuts() { return getOuts(); }
std::string AttentionOp::getActionName() { return "attention"; }

void AttentionGradOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  collectEffects(*this, effects);
}
OperandRange AttentionGradOp::getActionIns() { return getOperation()->getOperands().drop_back(getOuts().size()); }
OperandRange AttentionGradOp::getActionOuts() { return getOuts(); }
std::string AttentionGradOp::getActionName() { return "attention_grad"; }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the type of the log-sum-exp.
static RankedTensorType rowsOf(RankedTensorType query) {
  Type sum = query.getElementType();
  if (sum.getIntOrFloatBitWidth() < 32)
    sum = Float32Type::get(query.getContext());
  return RankedTensorType::get({query.getDimSize(0), query.getDimSize(2), query.getDimSize(1)}, sum);
}

static LogicalResult expect(Operation *op, StringRef what, RankedTensorType found, RankedTensorType expected) {
  if (found == expected)
    return success();
  return op->emitOpError() << what << " is " << found << " but must be " << expected;
}

template <typename Op> static LogicalResult verifyOperands(Op op) {
  RankedTensorType query = tensorOf(op.getQuery().getType()), key = tensorOf(op.getKey().getType());
  if (query.getRank() != 4 || key.getRank() != 4 || !isa<FloatType>(query.getElementType()))
    return op.emitOpError() << "query and key must be batch x sequence x heads x size of floats, found " << query
                            << " and " << key;
  if (query.getDimSize(0) != key.getDimSize(0) || query.getDimSize(3) != key.getDimSize(3) ||
      query.getElementType() != key.getElementType())
    return op.emitOpError() << "query " << query << " and key " << key
                            << " must agree in batch, head size and element type";
  if (key.getDimSize(2) == 0 || query.getDimSize(2) % key.getDimSize(2))
    return op.emitOpError() << "the " << key.getDimSize(2) << " heads of the key do not divide the "
                            << query.getDimSize(2) << " of the query";
  bool atPositions = op.getQueryStart() != nullptr;
  for (Value start : {op.getQueryStart(), op.getKeyStart()})
    if (start && tensorOf(start.getType()) != RankedTensorType::get({}, IntegerType::get(op.getContext(), 32)))
      return op.emitOpError() << "a position is " << tensorOf(start.getType()) << " but must be tensor<i32>";
  if (atPositions && !op.getTiles())
    return op.emitOpError() << "has query positions that are known only at run time, which only tiles support";
  std::string problem = op.getMask().problemOf(query.getDimSize(1), key.getDimSize(1), atPositions);
  if (Value documents = op.getDocuments(); documents && problem.empty())
    problem = op.getMask().problemOf(tensorOf(documents.getType()), query.getDimSize(0), query.getDimSize(1),
                                     key.getDimSize(1), atPositions);
  if (!problem.empty())
    return op.emitOpError() << problem;
  if (op.getSoftcap() && (!op.getSoftcap()->isFiniteNonZero() || op.getSoftcap()->isNegative()))
    return op.emitOpError() << "is soft-capped at " << op.getSoftcap()->convertToDouble()
                            << ", which must be a finite number above 0";
  return expect(op, "value", tensorOf(op.getValue().getType()), key);
}

/// Fails unless all results, or all outs, have these types.
template <typename Op> static LogicalResult verifyForm(Op op, ArrayRef<RankedTensorType> expected) {
  if (op.getOuts().empty() == op.getResults().empty() ||
      op.getOuts().size() + op.getResults().size() != expected.size())
    return op.emitOpError() << "has " << op.getResults().size() << " results and " << op.getOuts().size()
                            << " outs: it needs " << expected.size() << " results (on values) or outs (in memory)";
  TypeRange found = op.getOuts().empty() ? TypeRange(op.getResultTypes()) : TypeRange(op.getOuts().getTypes());
  for (auto [number, type] : llvm::enumerate(expected))
    if (failed(expect(op, ("result " + Twine(number)).str(), tensorOf(found[number]), type)))
      return failure();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  RankedTensorType query = tensorOf(getQuery().getType());
  return verifyForm(*this, {query, rowsOf(query)});
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  RankedTensorType query = tensorOf(getQuery().getType()), key = tensorOf(getKey().getType());
  if (failed(expect(*this, "output", tensorOf(getOutput().getType()), query)) ||
      failed(expect(*this, "lse", tensorOf(getLse().getType()), rowsOf(query))) ||
      failed(expect(*this, "gradient", tensorOf(getGradient().getType()), query)))
    return failure();
  if (getTiles() && getOrder() != SumOrder::Fixed)
    return emitOpError() << "is computed by tiles, which sum in a fixed order, but has order '"
                         << stringifySumOrder(getOrder()) << "'";
  return verifyForm(*this, {query, key, key});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns whether a library can read these strides, 16 bytes at a time: the last dim has
/// stride 1, no dim repeats, and every row of `size` elements starts at a multiple of 16 bytes.
static bool supportsStrides(RankedTensorType type, ArrayRef<int64_t> strides) {
  if (type.getRank() != 4 || strides.back() != 1)
    return false;
  int64_t step = std::max<int64_t>(16 / elementBytes(type.getElementType()), 1);
  for (auto [size, stride] : llvm::zip(type.getShape().drop_back(), strides.drop_back()))
    if (size > 1 && (stride == 0 || stride % step))
      return false;
  return true;
}

/// Returns the type of a result, in either form.
template <typename Op> static RankedTensorType resultOf(Op op, unsigned number) {
  return tensorOf(op.getOuts().empty() ? op.getResults()[number].getType() : op.getOuts()[number].getType());
}

bool AttentionOp::mayReadStrided(unsigned in, ArrayRef<int64_t> strides) {
  return supportsStrides(tensorOf(getOperand(in).getType()), strides);
}
bool AttentionOp::mayWriteStrided(unsigned result, ArrayRef<int64_t> strides) {
  return supportsStrides(resultOf(*this, result), strides);
}
bool AttentionGradOp::mayReadStrided(unsigned in, ArrayRef<int64_t> strides) {
  return supportsStrides(tensorOf(getOperand(in).getType()), strides);
}
bool AttentionGradOp::mayWriteStrided(unsigned result, ArrayRef<int64_t> strides) {
  return supportsStrides(resultOf(*this, result), strides);
}

template <typename Op> static AttentionSizes sizesOf(Op op) {
  RankedTensorType query = tensorOf(op.getQuery().getType()), key = tensorOf(op.getKey().getType());
  return {query.getDimSize(0),
          query.getDimSize(2),
          key.getDimSize(2),
          query.getDimSize(1),
          key.getDimSize(1),
          query.getDimSize(3),
          elementBytes(query.getElementType())};
}

AttentionSizes AttentionOp::getSizes() { return sizesOf(*this); }
AttentionSizes AttentionGradOp::getSizes() { return sizesOf(*this); }

int64_t AttentionOp::getWorkspaceBytes(const WorkspaceRule &) { return getTiles() ? 0 : attentionSlack; }

int64_t AttentionGradOp::getWorkspaceBytes(const WorkspaceRule &rule) {
  if (getTiles())
    return rule.attentionCache ? attentionTileWorkspace(getSizes(), rule.attentionCache) : 0;
  return attentionGradWorkspace(getSizes(), rule.attention, getOrder() == SumOrder::Fixed);
}

/// Returns the number of elements of the tensor that a value is a view of, because strides span that whole tensor.
static int64_t underlyingNumElements(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return tensorOf(value.getType()).getNumElements();
}

static SmallVector<LibraryNumber> tensorNumbers(OperandRange tensors) {
  SmallVector<LibraryNumber> numbers;
  for (Value tensor : tensors) {
    std::string what;
    llvm::raw_string_ostream(what) << "elements around " << tensorOf(tensor.getType());
    numbers.push_back({what, underlyingNumElements(tensor)});
  }
  return numbers;
}

SmallVector<LibraryNumber> AttentionOp::getLibraryNumbers(const WorkspaceRule &) {
  if (getTiles())
    return {};
  return tensorNumbers(getActionIns());
}

SmallVector<LibraryNumber> AttentionGradOp::getLibraryNumbers(const WorkspaceRule &rule) {
  if (getTiles())
    return {};
  SmallVector<LibraryNumber> numbers = tensorNumbers(getActionIns());
  if (getOrder() == SumOrder::Fixed && rule.attention.fixedTakesScores)
    numbers.push_back({"scores whose gradient is written for a fixed order", wholeBytes(getSizes().scores())});
  return numbers;
}
