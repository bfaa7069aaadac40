//===- FormRings.cpp - blocks of a sequence go round the ranks ------------===//
//
// Rank r computes with the blocks r, r - 1, ..., each of which it has from the rank before it.  What belongs
// to a block follows it around, one step behind its computation: of its own block a rank keeps its term,
// and the sum of the others' comes home last.
//
// In zigzag (dialects/Comm/Zigzag.h) a rank's block is two of the sequence, and so are its queries: comm-partition has
// made an op for each half of them.  Both share a ring, and each computes with each half of a block, which starts
// somewhere else.  Under a causal mask the first half of queries counts no second half of any block.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/Zigzag.h"
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
/// An op of a ring, and which half of a rank's queries it has, if not all.
struct RingOp {
  explicit RingOp(BlockwiseOpInterface op) : op(op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(kHalf))
      half = number.getInt();
    auto mask = op->getAttrOfType<tg::MaskAttr>("mask");
    isCausal = mask && mask.getCausal();
  }

  /// Whether it is the other half of what `first` computes.
  bool completes(const RingOp &first) const {
    return first.half == 0 && half == 1 && op->getName() == first.op->getName();
  }

  BlockwiseOpInterface op;
  std::optional<int64_t> half;
  bool isCausal;
};

/// What some ops read and make of other ranks' blocks.
struct Ring {
  FlatSymbolRefAttr mesh;
  AxesAttr axes;
  int64_t ranks, positions; ///< of a block
  bool inZigzag;            ///< A block is two of the sequence.
  Values own;               ///< The rank's block of each operand.
  /// Of each result that belongs to blocks, what scatters the sum; null where nobody reads it.
  SmallVector<ReduceScatterOp> scatters;

  int64_t pieces() const { return inZigzag ? 2 : 1; }
  /// Positions in a piece.
  int64_t size() const { return positions / pieces(); }
};

/// Where blocks begin, made once for a function, at its front.
class BlockStarts {
public:
  explicit BlockStarts(func::FuncOp function) : function(function) {}

  /// Of a piece of the block that is `step` ranks from home.
  Value at(const Ring &ring, int64_t step, int64_t piece);

  /// Erases what no op asked for: one whose mask counts all positions.
  void eraseUnread();

private:
  Value make(OpBuilder &builder, const Ring &ring, int64_t step, int64_t piece);

  func::FuncOp function;
  Operation *last = nullptr; ///< Of those that were made.
  DenseMap<AxesAttr, Value> ranks;
  DenseMap<std::tuple<AxesAttr, int64_t, int64_t, int64_t>, Value> starts;
};

/// Finds what can be a ring.
class RingFinder {
public:
  RingFinder(ArrayRef<RingOp> ops, AxesAttr axes, const Mesh &mesh, const std::optional<Zigzag> &zigzag)
      : ops(ops), op(ops.front().op), dims(op.getBlockDims()), axes(axes), mesh(mesh), zigzag(zigzag) {}

  /// None where an operand is not gathered along the ring's axes.
  FailureOr<std::optional<Ring>> find();

private:
  struct Gathered {
    AllGatherOp gather;
    bool inZigzag;
  };

  Gathered gathered(Value value, unsigned dim) const;
  bool isAlongRing(AllGatherOp gather, unsigned dim) const;
  ReduceScatterOp scatterOf(const Ring &ring, unsigned number, unsigned dim) const;
  FailureOr<std::optional<Ring>> checkGathersNothing() const;
  LogicalResult check(const Ring &ring) const;

  ArrayRef<RingOp> ops;
  BlockwiseOpInterface op; ///< The first of them.
  BlockDims dims;
  AxesAttr axes;
  const Mesh &mesh;
  const std::optional<Zigzag> &zigzag;
};

/// Makes a ring of ops.
class RingBuilder {
public:
  RingBuilder(ArrayRef<RingOp> ops, const Ring &ring, BlockStarts &starts)
      : ops(ops), last(ops.back().op), ring(ring), starts(starts), dims(last.getBlockDims()), builder(last),
        t(builder, last.getLoc()), rest(ops.size()) {
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      pairs.append({rank, (rank + 1) % ring.ranks});
  }

  void build();

private:
  bool belongsToBlock(unsigned result) const {
    return llvm::any_of(dims.results, [&](auto entry) { return entry.first == result; });
  }
  Values passOn(ValueRange values) {
    auto permute = builder.create<PermuteOp>(last.getLoc(), values, pairs, ring.mesh, ring.axes);
    permute->setAttr(kHeldStart, builder.getUnitAttr());
    return permute->getResults();
  }
  /// Computes with a block, and merges the results that no block has a part of.  Returns, of others, what is sent.
  Values compute(ValueRange block, int64_t step);
  SmallVector<int64_t, 2> piecesFor(const RingOp &member, int64_t step) const;
  Values pieceOf(ValueRange block, int64_t piece);
  /// Of results, those that blocks have a part of and somebody reads.
  Values readOf(ValueRange results);
  Values restOf(ValueRange results);
  Values joinPieces(ArrayRef<Values> pieces);
  Values sums(ValueRange some, ValueRange others);

  ArrayRef<RingOp> ops;
  BlockwiseOpInterface last;
  const Ring &ring;
  BlockStarts &starts;
  BlockDims dims;
  OpBuilder builder;
  tg::TensorBuilder t;
  SmallVector<int64_t> pairs;
  SmallVector<Values> rest; ///< Of each op, of all blocks so far.
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
    FailureOr<std::optional<Zigzag>> zigzag = Zigzag::of(function, *mesh);
    if (failed(zigzag))
      return signalPassFailure();
    auto ops = llvm::map_to_vector(function.getOps<BlockwiseOpInterface>(),
                                   [](BlockwiseOpInterface op) { return RingOp(op); });
    BlockStarts starts(function);
    for (ArrayRef<RingOp> left = ops; !left.empty();) {
      size_t count = left.size() > 1 && left[1].completes(left[0]) ? 2 : 1;
      if (failed(form(left.take_front(count), RingFinder(left.take_front(count), axes, *mesh, *zigzag), starts)))
        return signalPassFailure();
      left = left.drop_front(count);
    }
    starts.eraseUnread();
  }

private:
  static LogicalResult form(ArrayRef<RingOp> ops, RingFinder finder, BlockStarts &starts);
};
} // namespace

//===----------------------------------------------------------------------===//
// What becomes a ring
//===----------------------------------------------------------------------===//

/// The value in the type in which it is read.
static Value converted(Value value) {
  while (value.hasOneUse() && isConversion(*value.getUsers().begin()))
    value = value.getUsers().begin()->getResult(0);
  return value;
}

/// The only reader, if it is one of these.
template <typename Op> static Op readerOf(Value value) {
  return value.hasOneUse() ? dyn_cast<Op>(*value.getUsers().begin()) : Op();
}

/// The value with its blocks in this order; null where it is read otherwise.
static Value inOrder(Value value, unsigned dim, ArrayRef<int64_t> order) {
  auto slice = value.use_empty() ? tg::SliceOp() : dyn_cast<tg::SliceOp>(*value.getUsers().begin());
  auto concat = slice ? readerOf<tg::ConcatOp>(slice) : tg::ConcatOp();
  bool isRead = concat && reorderedBlocks(concat, dim, order) == value &&
                llvm::all_of(value.getUsers(), [&](Operation *user) {
                  return user->hasOneUse() && *user->getUsers().begin() == concat;
                });
  return isRead ? concat : Value();
}

/// What scatters the sum of a result over ranks, and over the halves of queries.
ReduceScatterOp RingFinder::scatterOf(const Ring &ring, unsigned number, unsigned dim) const {
  Value sum = converted(op->getResult(number));
  if (ops.size() > 1) {
    auto add = readerOf<arith::AddFOp>(sum);
    if (!add || readerOf<arith::AddFOp>(converted(ops.back().op->getResult(number))) != add)
      return {};
    sum = converted(add);
  }
  if (ring.inZigzag) {
    sum = inOrder(sum, dim, zigzag->heldOrder(ring.axes, mesh));
    if (!sum)
      return {};
    sum = converted(sum);
  }
  auto scatter = readerOf<ReduceScatterOp>(sum);
  bool fits = scatter && scatter.getKind() == Reduction::Sum && scatter.getIns().size() == 1 &&
              scatter.getDims()[0] == int64_t(dim) && scatter.getAxes() == ring.axes;
  return fits ? scatter : ReduceScatterOp();
}

/// What gathers a value, in whatever order its blocks then are.
RingFinder::Gathered RingFinder::gathered(Value value, unsigned dim) const {
  auto concat = value.getDefiningOp<tg::ConcatOp>();
  auto slice = concat ? concat.getInputs().front().getDefiningOp<tg::SliceOp>() : tg::SliceOp();
  if (!slice || !zigzag)
    return {value.getDefiningOp<AllGatherOp>(), false};
  auto gather = slice.getInput().getDefiningOp<AllGatherOp>();
  bool isOrdered = gather && zigzag->shards(gather.getAxes()) &&
                   reorderedBlocks(value, dim, zigzag->placesInHeldOrder(gather.getAxes(), mesh)) == slice.getInput();
  return {isOrdered ? gather : AllGatherOp(), true};
}

/// What makes a value, in whatever type and, where it may be another one, order.
static AllGatherOp gatherOf(Value value, bool mayBeReordered) {
  auto passes = [&](Operation *op) {
    return (mayBeReordered && isa<tg::SliceOp, tg::ConcatOp>(op)) ||
           (numericKindOf(op) == NumericKind::Conversion && op->getNumOperands() == 1);
  };
  Operation *op = value.getDefiningOp();
  while (op && passes(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<AllGatherOp>(op);
}

/// Without a ring, fails where an op has the numbers of other ranks along its axes none the less.
FailureOr<std::optional<Ring>> RingFinder::checkGathersNothing() const {
  for (const RingOp &member : ops)
    for (OpOperand &operand : member.op->getOpOperands()) {
      AllGatherOp gather = gatherOf(operand.get(), zigzag.has_value());
      if (gather && isa<FloatType>(getElementTypeOrSelf(operand.get())) &&
          llvm::any_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); }))
        return op.emitError() << op->getName() << " cannot be a ring over " << axes.str() << ": its operand #"
                              << operand.getOperandNumber() << " is gathered over " << gather.getAxes().str()
                              << ", and what goes round is not";
    }
  return std::optional<Ring>();
}

bool RingFinder::isAlongRing(AllGatherOp gather, unsigned dim) const {
  return gather && gather.getIns().size() == 1 && gather.getDims()[0] == int64_t(dim) &&
         llvm::all_of(axes.getNames(), [&](StringAttr axis) { return gather.getAxes().contains(axis); });
}

LogicalResult RingFinder::check(const Ring &ring) const {
  if (ring.ranks > kMaxRanks)
    return op.emitError() << op->getName() << " is computed by " << ring.ranks << " ranks along " << ring.axes.str()
                          << ", but a ring has " << kMaxRanks << " at most, because each of its steps is an op of the "
                          << "program";
  if (!ring.inZigzag)
    return success();
  if (ring.axes.size() > 1)
    return op.emitError() << op->getName() << " cannot be a ring in zigzag over " << ring.axes.str()
                          << ": a rank has blocks of '" << zigzag->axis.getValue() << "' alone; " << kStraightInstead;
  for (const RingOp &member : ops)
    if (member.isCausal && !member.half)
      return op.emitError() << op->getName() << " cannot be a ring in zigzag over " << ring.axes.str()
                            << ": its queries are not a half of a rank's; " << kStraightInstead;
  return success();
}

FailureOr<std::optional<Ring>> RingFinder::find() {
  Ring ring = {};
  for (auto [number, dim] : dims.operands) {
    auto [gather, inZigzag] = gathered(op->getOperand(number), dim);
    bool isShared = llvm::all_of(
        ops, [&, number = number](const RingOp &member) { return member.op->getOperand(number) == op->getOperand(number); });
    if (!isShared || !isAlongRing(gather, dim) ||
        (ring.axes && (ring.axes != gather.getAxes() || ring.inZigzag != inZigzag)))
      return checkGathersNothing();
    ring.mesh = gather.getMeshAttr();
    ring.axes = gather.getAxes();
    ring.inZigzag = inZigzag;
    ring.own.push_back(gather.getIns().front());
    ring.positions = tg::typeOf(ring.own.back()).getDimSize(dim);
  }
  if (!ring.axes)
    return std::optional<Ring>();
  ring.ranks = mesh.sizeOf(ring.axes);
  if (failed(check(ring)))
    return failure();
  for (auto [number, dim] : dims.results) {
    ring.scatters.push_back(scatterOf(ring, number, dim));
    bool isRead = llvm::any_of(
        ops, [&, number = number](const RingOp &member) { return !member.op->getResult(number).use_empty(); });
    if (!ring.scatters.back() && isRead)
      return op.emitError() << op->getName() << " cannot be a ring over " << ring.axes.str() << ": its result #"
                            << number << " is not only summed over these ranks and scattered along dim " << dim;
  }
  return std::optional<Ring>(std::move(ring));
}

//===----------------------------------------------------------------------===//
// Where blocks begin
//===----------------------------------------------------------------------===//

Value BlockStarts::at(const Ring &ring, int64_t step, int64_t piece) {
  Value &start = starts[{ring.axes, ring.inZigzag ? -ring.positions : ring.positions, step, piece}];
  if (start)
    return start;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  if (last)
    builder.setInsertionPointAfter(last);
  start = make(builder, ring, step, piece);
  last = start.getDefiningOp();
  return start;
}

/// (rank - step) mod ranks, in positions; of the second piece in zigzag as far from the end.
Value BlockStarts::make(OpBuilder &builder, const Ring &ring, int64_t step, int64_t piece) {
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
  if (piece)
    block = t.make<arith::SubIOp>(t.like(block, static_cast<double>(2 * ring.ranks - 1)), block);
  // Made last, whatever the block is.
  return t.make<arith::MulIOp>(block, t.like(block, ring.size()));
}

void BlockStarts::eraseUnread() {
  for (Operation *op = last; op;) {
    Operation *before = op->getPrevNode();
    if (isOpTriviallyDead(op))
      op->erase();
    op = before;
  }
}

//===----------------------------------------------------------------------===//
// A ring
//===----------------------------------------------------------------------===//

/// What a half of queries counts: of the rank's own block first the piece with its own positions.
SmallVector<int64_t, 2> RingBuilder::piecesFor(const RingOp &member, int64_t step) const {
  if (!ring.inZigzag)
    return {0};
  if (member.half == 0 && member.isCausal)
    return {0};
  if (member.half == 1 && step == 0)
    return {1, 0};
  return {0, 1};
}

Values RingBuilder::pieceOf(ValueRange block, int64_t piece) {
  if (!ring.inZigzag)
    return block;
  Values slices;
  for (auto [value, entry] : llvm::zip_equal(block, dims.operands))
    slices.push_back(t.slice(value, entry.second, piece * ring.size(), ring.size()));
  return slices;
}

Values RingBuilder::compute(ValueRange block, int64_t step) {
  SmallVector<Values> operands, made(ring.pieces());
  for (int64_t piece = 0; piece < ring.pieces(); ++piece)
    operands.push_back(pieceOf(block, piece));
  for (auto [member, merged] : llvm::zip_equal(ops, rest))
    for (int64_t piece : piecesFor(member, step)) {
      BlockwiseOpInterface op = member.op;
      Values results = op.buildOnBlock(builder, operands[piece], starts.at(ring, step, piece));
      merged = merged.empty() ? restOf(results) : Values(op.mergeBlocks(builder, merged, restOf(results)));
      made[piece] = made[piece].empty() ? readOf(results) : sums(made[piece], readOf(results));
    }
  return joinPieces(made);
}

Values RingBuilder::readOf(ValueRange results) {
  Values read;
  for (auto [entry, scatter] : llvm::zip_equal(dims.results, ring.scatters))
    if (scatter)
      read.push_back(results[entry.first]);
  return read;
}

Values RingBuilder::restOf(ValueRange results) {
  Values rest;
  for (auto [number, result] : llvm::enumerate(results))
    if (!belongsToBlock(number))
      rest.push_back(result);
  return rest;
}

/// Side by side, in the types in which they are sent.
Values RingBuilder::joinPieces(ArrayRef<Values> pieces) {
  Values joined;
  size_t place = 0;
  for (auto [entry, reader] : llvm::zip_equal(dims.results, ring.scatters)) {
    ReduceScatterOp scatter = reader;
    if (!scatter)
      continue;
    Type element = tg::typeOf(scatter.getIns().front()).getElementType();
    auto parts = llvm::map_to_vector(pieces, [&](const Values &piece) { return t.convert(piece[place], element); });
    joined.push_back(parts.size() == 1 ? parts.front() : t.make<tg::ConcatOp>(parts, entry.second));
    ++place;
  }
  return joined;
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
  for (const RingOp &member : ops)
    member.op->removeAttr(kHalf);
  // What is sent stands before what is computed meanwhile.
  Values block = ring.own, next = passOn(block), home = compute(block, 0), follows;
  for (int64_t step = 1; step < ring.ranks; ++step) {
    block = next;
    if (step + 1 < ring.ranks)
      next = passOn(block);
    Values behind = follows.empty() ? Values() : passOn(follows);
    follows = compute(block, step);
    if (!behind.empty())
      follows = sums(behind, follows);
  }
  Values totals = home.empty() ? Values() : sums(home, passOn(follows));

  auto total = totals.begin();
  for (ReduceScatterOp scatter : ring.scatters)
    if (scatter)
      tg::replaceHandingOnFacts(scatter, *total++);
  for (auto [member, results] : llvm::zip_equal(ops, rest)) {
    auto merged = results.begin();
    for (OpResult result : member.op->getResults())
      if (!belongsToBlock(result.getResultNumber()))
        result.replaceAllUsesWith(t.convert(*merged++, tg::typeOf(result).getElementType()));
  }
}

/// Erases what is read no more, with its readers, which led to what the ring has replaced.
static void eraseWithReaders(Operation *op) {
  while (!op->use_empty())
    eraseWithReaders(*op->getUsers().begin());
  op->erase();
}

/// Erases an op, and what only it read of gathered blocks.
static void eraseWithGathers(Operation *op) {
  SetVector<Operation *> before;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp();
        isa_and_nonnull<AllGatherOp, tg::ConcatOp, tg::SliceOp>(definition))
      before.insert(definition);
  op->erase();
  for (Operation *definition : before)
    if (definition->use_empty())
      eraseWithGathers(definition);
}

LogicalResult FormRings::form(ArrayRef<RingOp> ops, RingFinder finder, BlockStarts &starts) {
  FailureOr<std::optional<Ring>> ring = finder.find();
  if (failed(ring) || !*ring)
    return ring;
  RingBuilder(ops, **ring, starts).build();
  for (const RingOp &member : ops)
    while (!member.op->use_empty())
      eraseWithReaders(*member.op->getUsers().begin());
  for (const RingOp &member : ops)
    eraseWithGathers(member.op);
  return success();
}
