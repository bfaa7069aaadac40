//===- ChunkLoss.cpp - compute the loss in chunks of rows -----------------===//
//
// The ops between the last contraction and the contractions of its gradient work on rows: except through sums, a row
// does not depend on other rows. Their sharding rules tell which dim holds rows, as for a mesh whose ranks have some
// rows each:
//
//   a tensor with rows       is sliced where it enters, and concatenated for other readers
//   a tensor without rows    is read whole, and summed at its definition
//
// A collective works row by row if it leaves rows in place. All ranks then send those of a chunk.
//
// All ops of a chunk come before those of the next chunk, and backward follows forward, so only the tensors of one
// chunk are live.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Schedule/Forward.h"
#include "lib/Sharding/Chunks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/LossRows.h"
#define GEN_PASS_DEF_CHUNKLOSSPASS
#include "passes/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Ops that compute rows
//===----------------------------------------------------------------------===//

namespace {
/// The forward and backward ops that compute the rows of a loss.
class Rows : DimFlow {
public:
  explicit Rows(Operation *loss)
      : logits(loss->getOperand(0)), fewest(tg::typeOf(loss->getOperand(0)).getNumElements()) {}

  /// Finds these ops. Fails, with a reason, if the loss cannot be computed in chunks.
  LogicalResult find();
  StringRef getReason() const { return why; }
  /// Returns an op that must first be replaced by its definition, or null.
  Operation *getComposite() const { return composite; }
  /// Returns the number of equal chunks with at most `rows` rows, or with the fewest rows that are possible.
  int64_t countChunks(int64_t rows) const;
  void chunk(int64_t count);

private:
  using Chunk = DenseMap<Value, Value>;
  using Slices = DenseMap<std::pair<Value, unsigned>, Value>; ///< Slices by value and dim.

  std::optional<ShardingRule> ruleOf(Operation *op) const override;
  WalkResult enter(Operation *op, const ShardingRule *rule, DimParts &factors) override;
  WalkResult reach(Operation *op, Value value, DimPart part) override;
  LogicalResult findRows();
  LogicalResult checkDims(Operation *op, const FactorDims &dims);
  LogicalResult findReaders();
  std::optional<unsigned> dimOf(Value value) const;
  bool isOutside(Value value) const { return !value.getDefiningOp() || !ops.contains(value.getDefiningOp()); }
  void build(OpBuilder &builder, Operation *op, int64_t number, int64_t count, Chunk &made, Slices &slices) const;
  void replace(OpBuilder &builder, OpResult result, ArrayRef<Chunk> chunks);
  arith::AddFOp sumWith(OpResult result) const;

  Value logits;
  int64_t fewest; ///< Least elements of a followed value: those of the logits, or of one rank's part.
  Operation *composite = nullptr;
  llvm::MapVector<Operation *, FactorDims> ops;
  std::vector<Operation *> ordered; ///< The same ops in block order.
  /// Ops outside that depend on the rows.
  llvm::SetVector<Operation *> readers;
  std::string why;
};
} // namespace

static std::string nameOf(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

/// Returns the first dim with more than one index, before the lanes.
static std::optional<unsigned> firstDim(Value value) {
  if (tg::typeOf(value).getRank() == 0)
    return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(tg::typeOf(value).getShape().drop_back()))
    if (size > 1)
      return dim;
  return std::nullopt;
}

/// Returns the dims along which a comm op joins or divides a tensor; nothing for other comm ops.
static std::optional<SmallVector<int64_t>> dimsOfRanks(Operation *op) {
  if (auto slice = dyn_cast<comm::SliceOp>(op))
    return SmallVector<int64_t>{static_cast<int64_t>(slice.getDim())};
  auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
  if (!collective || collective.getRootRank() || collective.getPeerRank() || !collective.getPairs().empty())
    return std::nullopt;
  SmallVector<int64_t> dims(collective.getSentDims());
  llvm::append_range(dims, collective.getReceivedDims());
  return dims;
}

/// Returns the rule of an op. For a comm op on one tensor, the rule covers the dims that the op leaves alone.
std::optional<ShardingRule> Rows::ruleOf(Operation *op) const {
  if (std::optional<ShardingRule> rule = shardingRuleOf(op))
    return rule;
  std::optional<SmallVector<int64_t>> dims = dimsOfRanks(op);
  if (!dims || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return std::nullopt;
  int64_t rank = tg::typeOf(op->getOperand(0)).getRank();
  std::string before, behind, whole;
  for (int64_t dim = 0; dim < rank && rank <= 8; ++dim) {
    bool isOfRanks = llvm::is_contained(*dims, dim);
    char from = char('a' + dim), to = isOfRanks ? char('A' + dim) : from;
    before += {from, ' '};
    behind += {to, ' '};
    if (isOfRanks)
      whole += {from, to};
  }
  bool isFlat = llvm::any_of(*dims, [&](int64_t dim) { return dim < 0 || dim >= rank; });
  if (isFlat || before.empty())
    return std::nullopt;
  return einsumRule(op, before + "-> " + behind, whole);
}

/// Follows rows from the logits to all ops that define or read tensors of at least that size.
LogicalResult Rows::find() {
  why = "it has a single row";
  if (!firstDim(logits))
    return failure();
  // Comm ops among the readers may lower the size from which values are followed, so this repeats until it is stable.
  for (int64_t before = -1; before != fewest;) {
    before = fewest;
    clear();
    ops.clear();
    start(logits, *firstDim(logits));
    if (failed(run()))
      return success(composite != nullptr);
  }
  return findReaders();
}

std::optional<unsigned> Rows::dimOf(Value value) const {
  ArrayRef<DimPart> parts = partsOf(value);
  return parts.empty() ? std::nullopt : std::optional(parts.front().number);
}

/// Adds an op that defines or reads a value with rows.
WalkResult Rows::enter(Operation *op, const ShardingRule *rule, DimParts &factors) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return WalkResult::skip();
  why = nameOf(op) + " does not work row by row";
  if (factors.empty() || !isMemoryEffectFree(op) || op->getNumRegions() > 0)
    return WalkResult::interrupt();
  factors.erase(factors.begin(), factors.end() - 1);
  unsigned number = factors.front().number;
  if (auto known = ops.find(op); known != ops.end())
    return success(known->second.factor == number);
  FactorDims dims = FactorDims::along(*rule, number);
  const Factor &factor = dims.getFactor();
  if (factor.decomposed && isa<DecomposableOpInterface>(op)) {
    composite = op;
    return WalkResult::interrupt();
  }
  if (!dims.areOutermost() || factor.kind == FactorKind::Whole || factor.decomposed || failed(checkDims(op, dims)))
    return WalkResult::interrupt();
  // The values of comm ops are as large as the logits on all ranks together.
  if (dimsOfRanks(op))
    for (Value part : {op->getOperand(0), Value(op->getResult(0))})
      fewest = std::min(fewest, tg::typeOf(part).getNumElements());
  ops.insert({op, std::move(dims)});
  return WalkResult::advance();
}

LogicalResult Rows::checkDims(Operation *op, const FactorDims &dims) {
  bool addsUp = dims.getFactor().combine == Combine::Sum;
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), dims.results))
    if (!dim && (!addsUp || !tg::isFloat(result)))
      return failure();
  why = nameOf(op) + " reads or makes rows along different dims";
  return success(llvm::all_of(llvm::zip_equal(op->getOperands(), dims.operands), [&](auto pair) {
    std::optional<unsigned> known = dimOf(std::get<0>(pair));
    return !known || known == std::get<1>(pair);
  }));
}

/// Stops at contractions, whose other values are smaller.
WalkResult Rows::reach(Operation *op, Value value, DimPart part) {
  if (numericKindOf(op) == NumericKind::Contraction || tg::typeOf(value).getNumElements() < fewest)
    return WalkResult::skip();
  return partsOf(value).empty() ? WalkResult::advance() : WalkResult::interrupt();
}

/// Finds the readers of the rows. Fails if the rows depend on a result of all rows.
LogicalResult Rows::findReaders() {
  why = "no contraction makes its rows";
  if (llvm::none_of(ops, [](const auto &entry) { return numericKindOf(entry.first) == NumericKind::Contraction; }))
    return failure();
  for (auto &entry : ops)
    ordered.push_back(entry.first);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *end = ordered.front()->getBlock()->getTerminator();
  for (Operation *op = ordered.front(); op != end; op = op->getNextNode()) {
    bool isOfRows = ops.contains(op);
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!isOfRows && producer && (ops.contains(producer) || readers.contains(producer)))
        readers.insert(op);
      if (isOfRows && producer && readers.contains(producer)) {
        why = nameOf(op) + " needs a value computed from all rows";
        return failure();
      }
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

int64_t Rows::countChunks(int64_t rows) const {
  ArrayRef<int64_t> shape = tg::typeOf(logits).getShape();
  int64_t all = tg::typeOf(logits).getNumElements() / shape.back(), size = shape[*dimOf(logits)];
  for (auto &[op, dims] : ops)
    size = std::min(size, dims.getFactor().size);
  int64_t count = std::min<int64_t>(size, llvm::divideCeil(all, rows));
  while (size % count)
    ++count;
  return count;
}

/// Builds an op on the rows of a chunk, as for the rows of a rank.
void Rows::build(OpBuilder &builder, Operation *op, int64_t number, int64_t count, Chunk &made, Slices &slices) const {
  const FactorDims &dims = ops.find(op)->second;
  SmallVector<Value> operands;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims.operands)) {
    if (!isOutside(operand)) {
      operands.push_back(made.at(operand));
      continue;
    }
    if (!dim) {
      operands.push_back(operand);
      continue;
    }
    Value &slice = slices[{operand, *dim}];
    if (!slice)
      slice = sliceChunk(builder, tg::withoutTensor(op->getLoc()), operand, *dim, number, {count});
    operands.push_back(slice);
  }
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), buildChunk(builder, op, dims, operands, number, {count})))
    made[result] = value;
}

static Value otherTerm(arith::AddFOp sum, Value term) { return sum.getLhs() == term ? sum.getRhs() : sum.getLhs(); }

/// Returns the addition that is the only reader of a sum, if its other term is available before the rows. Chunks are
/// added to that term.
arith::AddFOp Rows::sumWith(OpResult result) const {
  auto sum = result.hasOneUse() ? dyn_cast<arith::AddFOp>(*result.user_begin()) : arith::AddFOp();
  if (!sum)
    return {};
  Operation *producer = otherTerm(sum, result).getDefiningOp();
  return !producer || producer->isBeforeInBlock(ordered.front()) ? sum : arith::AddFOp();
}

/// Joins the rows of all chunks, or adds up their sums.
void Rows::replace(OpBuilder &builder, OpResult result, ArrayRef<Chunk> chunks) {
  if (llvm::all_of(result.getUsers(), [&](Operation *user) { return ops.contains(user); }))
    return;
  const FactorDims &dims = ops.find(result.getOwner())->second;
  tg::TensorBuilder t(builder, tg::locationOf(result));
  SmallVector<Value> parts = llvm::map_to_vector(chunks, [&](const Chunk &chunk) { return chunk.at(result); });
  if (std::optional<unsigned> dim = dims.results[result.getResultNumber()]) {
    result.replaceUsesWithIf(t.make<tg::ConcatOp>(parts, *dim),
                             [&](OpOperand &use) { return !ops.contains(use.getOwner()); });
    return;
  }
  arith::AddFOp sum = sumWith(result);
  Value total = sum ? otherTerm(sum, result) : Value();
  if (sum)
    t.loc = sum.getLoc();
  for (Value part : parts) {
    // The addition follows the definition of the part, which then needs no memory of its own.
    builder.setInsertionPointAfterValue(part);
    total = total ? t.add(total, part) : part;
  }
  if (!sum)
    return result.replaceAllUsesWith(total);
  sum.replaceAllUsesWith(total);
  sum.erase();
}

void Rows::chunk(int64_t count) {
  Operation *last = ordered.back(), *behind = last;
  for (Operation *reader : readers)
    if (reader->isBeforeInBlock(last)) {
      reader->moveAfter(behind);
      behind = reader;
    }
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  std::vector<Chunk> chunks(count);
  for (auto [number, made] : llvm::enumerate(chunks)) {
    Slices slices;
    for (Operation *op : ordered)
      build(builder, op, number, count, made, slices);
  }
  Operation *end = builder.getInsertionPoint()->getPrevNode();
  for (Operation *op : ordered)
    for (OpResult result : op->getResults()) {
      builder.setInsertionPointAfter(end);
      replace(builder, result, chunks);
    }
  for (Operation *op : llvm::reverse(ordered))
    op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ChunkLoss final : braid::impl::ChunkLossPassBase<ChunkLoss> {
  using ChunkLossPassBase::ChunkLossPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (rows == 0 || function.isExternal() || !function.getBody().hasOneBlock())
      return;
    // Definitions may contain losses.
    while (replaceComposite(function))
      ;
    // A sum that is reported beside the loss, such as the number of dropped choices, has no gradient by rows.
    std::pair<Operation *, std::string> refused;
    for (LossOpInterface loss : lossesOf(function)) {
      Rows found(loss);
      if (succeeded(found.find())) {
        if (int64_t count = found.countChunks(rows); count > 1)
          found.chunk(count);
        return;
      }
      if (!refused.first)
        refused = {loss, found.getReason().str()};
    }
    if (refused.first && required && isTraining(function))
      return refuse(refused.first, refused.second);
    if (refused.first)
      refused.first->emitRemark() << nameOf(refused.first) << " is computed from all rows at once: " << refused.second;
  }

  void refuse(Operation *loss, StringRef why) {
    loss->emitError() << nameOf(loss) << " cannot be computed in chunks of rows, which --loss-chunk asks for: " << why
                      << "; leave --loss-chunk out";
    signalPassFailure();
  }

  /// Replaces an op by its definition, if only the definition can be computed in chunks.
  static bool replaceComposite(func::FuncOp function) {
    for (LossOpInterface loss : lossesOf(function)) {
      Rows found(loss);
      if (failed(found.find()) || !found.getComposite())
        continue;
      OpBuilder builder(found.getComposite());
      tg::replaceAndTransferFacts(found.getComposite(),
                                  cast<DecomposableOpInterface>(found.getComposite()).decompose(builder));
      return true;
    }
    return false;
  }
};
} // namespace
