//===- FormRings.cpp - blocks of a sequence go round the ranks ------------===//
//
// Rank r computes with the blocks r, r - 1, ..., each of which it has from the rank before it.  What belongs
// to a block follows it around, one step behind its computation: of its own block a rank keeps its term,
// and the sum of the others' comes home last.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Collectives/Passes.h"

namespace braid {
#define GEN_PASS_DEF_FORMRINGSPASS
#include "passes/Collectives/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Values = SmallVector<Value>;

/// In a ring of n an op becomes n, and each of their messages names n pairs of ranks.
static constexpr int64_t kMaxRanks = 512;

namespace {
/// What an op reads and makes of other ranks' blocks.
struct Ring {
  FlatSymbolRefAttr mesh;
  AxesAttr axes;
  int64_t ranks, positions; ///< of a block
  Values own;               ///< The rank's block of each operand.
  /// Of each result that belongs to blocks, what scatters the sum; null where nobody reads it.
  SmallVector<ReduceScatterOp> scatters;
};

/// Where blocks begin, made once for a function, at its front.
class BlockStarts {
public:
  explicit BlockStarts(func::FuncOp function) : function(function) {}

  /// Of the block that is `step` ranks from home.
  Value at(const Ring &ring, int64_t step);

  /// Erases what no op asked for: one whose mask counts all positions.
  void eraseUnread();

private:
  Value make(OpBuilder &builder, const Ring &ring, int64_t step);

  func::FuncOp function;
  Operation *last = nullptr; ///< Of those that were made.
  DenseMap<AxesAttr, Value> ranks;
  DenseMap<std::tuple<AxesAttr, int64_t, int64_t>, Value> starts;
};

/// Makes one op a ring.
class RingBuilder {
public:
  RingBuilder(BlockwiseOpInterface op, const Ring &ring, BlockStarts &starts)
      : op(op), ring(ring), starts(starts), dims(op.getBlockDims()), builder(op), t(builder, op.getLoc()) {
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      pairs.append({rank, (rank + 1) % ring.ranks});
  }

  void build();

private:
  bool belongsToBlock(unsigned result) const {
    return llvm::any_of(dims.results, [&](auto entry) { return entry.first == result; });
  }
  Values passOn(ValueRange values) {
    auto permute = builder.create<PermuteOp>(op.getLoc(), values, pairs, ring.mesh, ring.axes);
    permute->setAttr(kHeldStart, builder.getUnitAttr());
    return permute->getResults();
  }
  Values compute(ValueRange block, int64_t step);
  /// Of results, those that blocks have a part of, as they are sent.
  Values sentOf(ValueRange results);
  Values restOf(ValueRange results);
  Values sums(ValueRange some, ValueRange others);

  BlockwiseOpInterface op;
  const Ring &ring;
  BlockStarts &starts;
  BlockDims dims;
  OpBuilder builder;
  tg::TensorBuilder t;
  SmallVector<int64_t> pairs;
};

struct FormRings final : braid::impl::FormRingsPassBase<FormRings> {
  using FormRingsPassBase::FormRingsPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    auto axes = function->getParentOfType<ModuleOp>()->getAttrOfType<AxesAttr>(CommDialect::kRing);
    if (!program || !axes || function.isExternal())
      return markAllAnalysesPreserved();
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    SmallVector<BlockwiseOpInterface> ops(function.getOps<BlockwiseOpInterface>());
    BlockStarts starts(function);
    for (BlockwiseOpInterface op : ops)
      if (failed(form(op, axes, *mesh, starts)))
        return signalPassFailure();
    starts.eraseUnread();
  }

private:
  static LogicalResult form(BlockwiseOpInterface op, AxesAttr axes, const Mesh &mesh, BlockStarts &starts);
  static FailureOr<std::optional<Ring>> ringOf(BlockwiseOpInterface op, AxesAttr axes, const Mesh &mesh);
};
} // namespace

//===----------------------------------------------------------------------===//
// What becomes a ring
//===----------------------------------------------------------------------===//

/// What sends a result on, through conversions.
static Operation *senderOf(Value result) {
  while (result.hasOneUse() && isConversion(*result.getUsers().begin()))
    result = result.getUsers().begin()->getResult(0);
  return result.hasOneUse() ? *result.getUsers().begin() : nullptr;
}

static ReduceScatterOp scatterOf(Value result, unsigned dim, AxesAttr axes) {
  auto scatter = dyn_cast_or_null<ReduceScatterOp>(senderOf(result));
  bool fits = scatter && scatter.getKind() == Reduction::Sum && scatter.getIns().size() == 1 &&
              scatter.getDims()[0] == int64_t(dim) && scatter.getAxes() == axes;
  return fits ? scatter : ReduceScatterOp();
}

/// What makes a value, in whatever type.
static AllGatherOp gatherOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && numericKindOf(op) == NumericKind::Conversion && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<AllGatherOp>(op);
}

/// Without a ring, fails where the op has the numbers of other ranks along its axes none the less.
static FailureOr<std::optional<Ring>> checkGathersNothing(BlockwiseOpInterface op, AxesAttr axes) {
  for (OpOperand &operand : op->getOpOperands()) {
    AllGatherOp gather = gatherOf(operand.get());
    if (gather && isa<FloatType>(getElementTypeOrSelf(operand.get())) &&
        llvm::any_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); }))
      return op.emitError() << op->getName() << " cannot be a ring over " << axes.str() << ": its operand #"
                            << operand.getOperandNumber() << " is gathered over " << gather.getAxes().str()
                            << ", and what goes round is not";
  }
  return std::optional<Ring>();
}

/// None where an operand is not gathered along the ring's axes.
FailureOr<std::optional<Ring>> FormRings::ringOf(BlockwiseOpInterface op, AxesAttr axes, const Mesh &mesh) {
  BlockDims dims = op.getBlockDims();
  Ring ring = {};
  for (auto [number, dim] : dims.operands) {
    auto gather = op->getOperand(number).getDefiningOp<AllGatherOp>();
    bool isAlongRing = gather && gather.getIns().size() == 1 && gather.getDims()[0] == int64_t(dim) &&
                       llvm::all_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); });
    if (!isAlongRing || (ring.axes && ring.axes != gather.getAxes()))
      return checkGathersNothing(op, axes);
    ring.mesh = gather.getMeshAttr();
    ring.axes = gather.getAxes();
    ring.own.push_back(gather.getIns().front());
    ring.positions = tg::typeOf(ring.own.back()).getDimSize(dim);
  }
  if (!ring.axes)
    return std::optional<Ring>();
  ring.ranks = mesh.sizeOf(ring.axes);
  if (ring.ranks > kMaxRanks)
    return op.emitError() << op->getName() << " is computed by " << ring.ranks << " ranks along " << ring.axes.str()
                          << ", but a ring has " << kMaxRanks << " at most, because each of its steps is an op of the "
                          << "program";
  for (auto [number, dim] : dims.results) {
    Value result = op->getResult(number);
    ring.scatters.push_back(scatterOf(result, dim, ring.axes));
    if (!ring.scatters.back() && !result.use_empty())
      return op.emitError() << op->getName() << " cannot be a ring over " << ring.axes.str() << ": its result #"
                            << number << " is not only summed over these ranks and scattered along dim " << dim;
  }
  return std::optional<Ring>(std::move(ring));
}

//===----------------------------------------------------------------------===//
// A ring
//===----------------------------------------------------------------------===//

Value BlockStarts::at(const Ring &ring, int64_t step) {
  Value &start = starts[{ring.axes, ring.positions, step}];
  if (start)
    return start;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  if (last)
    builder.setInsertionPointAfter(last);
  start = make(builder, ring, step);
  last = start.getDefiningOp();
  return start;
}

/// (rank - step) mod ranks, in positions.
Value BlockStarts::make(OpBuilder &builder, const Ring &ring, int64_t step) {
  tg::TensorBuilder t(builder, function.getLoc());
  Value &rank = ranks[ring.axes];
  if (!rank)
    rank = builder.create<AxisIndexOp>(function.getLoc(), ring.mesh, ring.axes);
  Value block = rank;
  if (step) {
    Value before = t.make<arith::SubIOp>(rank, t.like(rank, step));
    Value around = t.make<arith::AddIOp>(rank, t.like(rank, ring.ranks - step));
    block = t.select(t.compare(arith::CmpIPredicate::sge, before, t.like(rank, 0)), before, around);
  }
  // Made last, whatever the block is.
  return t.make<arith::MulIOp>(block, t.like(block, ring.positions));
}

void BlockStarts::eraseUnread() {
  for (Operation *op = last; op;) {
    Operation *before = op->getPrevNode();
    if (isOpTriviallyDead(op))
      op->erase();
    op = before;
  }
}

Values RingBuilder::compute(ValueRange block, int64_t step) {
  return op.buildOnBlock(builder, block, starts.at(ring, step));
}

Values RingBuilder::sentOf(ValueRange results) {
  Values sent;
  for (auto [entry, reader] : llvm::zip_equal(dims.results, ring.scatters))
    if (ReduceScatterOp scatter = reader)
      sent.push_back(t.convert(results[entry.first], tg::typeOf(scatter.getIns().front()).getElementType()));
  return sent;
}

Values RingBuilder::restOf(ValueRange results) {
  Values rest;
  for (auto [number, result] : llvm::enumerate(results))
    if (!belongsToBlock(number))
      rest.push_back(result);
  return rest;
}

/// Added in f32, and rounded to what is sent.
Values RingBuilder::sums(ValueRange some, ValueRange others) {
  Values sums;
  for (auto [one, other] : llvm::zip_equal(some, others)) {
    Value wide = t.widen(one);
    sums.push_back(t.convert(t.add(wide, t.widen(other)), tg::typeOf(one).getElementType()));
  }
  return sums;
}

void RingBuilder::build() {
  // What is sent stands before what is computed meanwhile.
  Values block = ring.own, next = passOn(block), made = compute(block, 0);
  Values home = sentOf(made), rest = restOf(made), follows;
  for (int64_t step = 1; step < ring.ranks; ++step) {
    block = next;
    if (step + 1 < ring.ranks)
      next = passOn(block);
    Values behind = follows.empty() ? Values() : passOn(follows);
    made = compute(block, step);
    rest = op.mergeBlocks(builder, rest, restOf(made));
    follows = sentOf(made);
    if (!behind.empty())
      follows = sums(behind, follows);
  }
  Values totals = home.empty() ? Values() : sums(home, passOn(follows));

  auto total = totals.begin();
  for (ReduceScatterOp scatter : ring.scatters)
    if (scatter)
      tg::replaceHandingOnFacts(scatter, *total++);
  auto merged = rest.begin();
  for (OpResult result : op->getResults())
    if (!belongsToBlock(result.getResultNumber()))
      result.replaceAllUsesWith(t.convert(*merged++, tg::typeOf(result).getElementType()));
}

/// Removes an op and what it alone read, as long as it computes or gathers.
static void eraseUnread(Operation *op) {
  SetVector<Operation *> before;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp(); isa_and_nonnull<AllGatherOp>(definition))
      before.insert(definition);
  op->erase();
  for (Operation *definition : before)
    if (definition->use_empty())
      definition->erase();
}

LogicalResult FormRings::form(BlockwiseOpInterface op, AxesAttr axes, const Mesh &mesh, BlockStarts &starts) {
  FailureOr<std::optional<Ring>> ring = ringOf(op, axes, mesh);
  if (failed(ring) || !*ring)
    return ring;
  RingBuilder(op, **ring, starts).build();
  // Conversions of what was scattered are read no more.
  for (auto [number, dim] : op.getBlockDims().results)
    while (!op->getResult(number).use_empty()) {
      Operation *last = *op->getResult(number).getUsers().begin();
      while (!last->use_empty())
        last = *last->getResult(0).getUsers().begin();
      last->erase();
    }
  eraseUnread(op);
  return success();
}
