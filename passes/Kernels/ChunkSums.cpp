//===- ChunkSums.cpp - sums over many tensors, in chunks of one length -----===//
//
// A sum over all elements of many tensors, such as the squares of all gradients, becomes a sum for each chunk of each
// tensor. Chunks have the same lengths in all tensors, so one kernel sums the chunks of all tensors, whatever their
// shapes. The sums of chunks are concatenated to one vector, which is summed in turn.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#define GEN_PASS_DEF_CHUNKSUMSPASS
#include "passes/Kernels/Passes.h"
#include "passes/Select/InlineValues.h"

using namespace mlir;
using namespace braid;

/// Lengths of chunks, in elements: the remainder of one length is cut by the next length.
static constexpr int64_t kChunks[] = {4096, 64, 1};
/// Fewer sums than this stay separate.
static constexpr size_t kMinSums = 4;
/// Longer vectors are cut into chunks again.
static constexpr int64_t kMaxVectorLength = 1 << 16;

//===----------------------------------------------------------------------===//
// Pieces of tensors
//===----------------------------------------------------------------------===//

namespace {
/// Elements of tensors in row-major order from `begin` on, in another shape. Values that only the piece reads are
/// computed in that shape, so the piece needs no memory of its own.
class Piece {
public:
  Piece(tg::TensorBuilder &t, int64_t begin, ArrayRef<int64_t> shape) : t(t), begin(begin), shape(shape) {}
  Value of(Value tensor);

private:
  Value make(Value tensor);
  Value moved(Value tensor);

  tg::TensorBuilder &t;
  int64_t begin;
  ArrayRef<int64_t> shape;
  llvm::DenseMap<Value, Value> made;
};
} // namespace

Value Piece::of(Value tensor) {
  if (Value known = made.lookup(tensor))
    return known;
  return made[tensor] = make(tensor);
}

/// Whether all uses of a value are in one op.
static bool hasOneReader(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return user == *value.user_begin(); });
}

/// Returns the scalar that a value broadcasts, or null.
static Value scalarOf(Value value) {
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  return broadcast && broadcast.getDims().empty() ? broadcast.getInput() : Value();
}

/// Whether a value needs no memory whole, but would need it in pieces.
static bool isSpread(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isExpression(op) && !isElementwise(op) && !op->hasTrait<OpTrait::ConstantLike>() && !scalarOf(value);
}

Value Piece::make(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  RankedTensorType type = tg::withShape(tg::typeOf(tensor), shape);
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && constant.isSplat())
    return t.make<arith::ConstantOp>(constant.resizeSplat(type));
  if (Value scalar = scalarOf(tensor))
    return t.broadcast(scalar, type, {});
  if (!op || !isElementwise(op) || !hasOneReader(tensor) || llvm::any_of(op->getOperands(), isSpread))
    return moved(tensor);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return of(operand); });
  return t.builder.create(t.loc, op->getName().getIdentifier(), operands, type, op->getAttrs())->getResult(0);
}

Value Piece::moved(Value tensor) {
  int64_t all = tg::typeOf(tensor).getNumElements(), size = ShapedType::getNumElements(shape);
  if (size < all)
    tensor = t.slice(t.reshape(tensor, {all}), 0, begin, size);
  return t.reshape(tensor, shape);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns the sum over all elements of a tensor, if only a sum of sums reads it; else null.
static tg::ReduceOp wholeSum(Value value) {
  auto reduce = value.getDefiningOp<tg::ReduceOp>();
  bool isWhole = reduce && reduce.getKind() == tg::ReduceKind::Sum && tg::typeOf(value).getRank() == 0 &&
                 tg::typeOf(reduce.getInput()).getRank() > 0 && !tg::typeOf(value).getElementType().isBF16();
  return isWhole && value.hasOneUse() ? reduce : tg::ReduceOp();
}

/// Returns an addition of scalars, or null.
static arith::AddFOp scalarSum(Operation *op) {
  auto add = dyn_cast_or_null<arith::AddFOp>(op);
  auto type = add ? dyn_cast<RankedTensorType>(add.getType()) : RankedTensorType();
  return type && type.getRank() == 0 ? add : arith::AddFOp();
}

/// Whether the only use of an addition is as a term of another one.
static bool isTerm(arith::AddFOp add) { return add->hasOneUse() && scalarSum(*add->user_begin()); }

/// Collects the terms of a sum in order: whole sums, and other terms.
static void collectTerms(arith::AddFOp sum, SmallVectorImpl<tg::ReduceOp> &sums, SmallVectorImpl<Value> &others) {
  SmallVector<Value> left{sum.getRhs(), sum.getLhs()};
  while (!left.empty()) {
    Value term = left.pop_back_val();
    arith::AddFOp inner = scalarSum(term.getDefiningOp());
    if (inner && term.hasOneUse())
      left.append({inner.getRhs(), inner.getLhs()});
    else if (tg::ReduceOp reduce = wholeSum(term))
      sums.push_back(reduce);
    else
      others.push_back(term);
  }
}

/// Appends, for each length, a vector with the sum of each chunk.
static void appendChunkSums(tg::TensorBuilder &t, Value tensor, SmallVectorImpl<Value> &sums) {
  int64_t begin = 0, size = tg::typeOf(tensor).getNumElements();
  for (int64_t length : kChunks) {
    int64_t count = (size - begin) / length;
    if (count == 0)
      continue;
    SmallVector<int64_t> shape{count};
    if (length > 1)
      shape.push_back(length);
    Value piece = Piece(t, begin, shape).of(tensor);
    sums.push_back(length > 1 ? t.sum(piece, {1}) : piece);
    begin += count * length;
  }
}

static Value concat(tg::TensorBuilder &t, ArrayRef<Value> vectors) {
  return vectors.size() == 1 ? vectors.front() : t.make<tg::ConcatOp>(vectors, 0);
}

/// Returns the sum of a vector, by chunks while it is long.
static Value sumOf(tg::TensorBuilder &t, Value vector) {
  while (tg::typeOf(vector).getNumElements() > kMaxVectorLength) {
    SmallVector<Value> sums;
    appendChunkSums(t, vector, sums);
    vector = concat(t, sums);
  }
  return t.sumAll(vector);
}

static void rewrite(arith::AddFOp sum, ArrayRef<tg::ReduceOp> terms, ArrayRef<Value> others) {
  OpBuilder builder(sum);
  SmallVector<Value> sums;
  for (tg::ReduceOp term : terms) {
    // Each tensor is summed at its own term, which may be long before the last one.
    builder.setInsertionPoint(term);
    tg::TensorBuilder t(builder, term.getLoc());
    appendChunkSums(t, term.getInput(), sums);
  }
  builder.setInsertionPoint(sum);
  tg::TensorBuilder t(builder, sum.getLoc());
  Value total = sumOf(t, concat(t, sums));
  for (Value other : others)
    total = t.add(total, other);
  sum.replaceAllUsesWith(total);
}

/// Erases dead ops, from a value back to its predecessors.
static void eraseUnused(Value value) {
  llvm::SetVector<Operation *> left;
  left.insert(value.getDefiningOp());
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (!op->use_empty() || !isMemoryEffectFree(op))
      continue;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *producer = operand.getDefiningOp())
        left.insert(producer);
  }
}

namespace {
struct ChunkSums final : braid::impl::ChunkSumsPassBase<ChunkSums> {
  void runOnOperation() final {
    SmallVector<arith::AddFOp> roots;
    getOperation().walk([&](arith::AddFOp add) {
      if (scalarSum(add) && !isTerm(add))
        roots.push_back(add);
    });
    for (arith::AddFOp root : roots) {
      SmallVector<tg::ReduceOp> sums;
      SmallVector<Value> others;
      collectTerms(root, sums, others);
      if (sums.size() < kMinSums)
        continue;
      rewrite(root, sums, others);
      eraseUnused(root);
    }
  }
};
} // namespace
