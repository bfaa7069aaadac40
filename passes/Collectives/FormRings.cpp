//===- FormRings.cpp - send blocks of a sequence round the ranks ----------===//
//
// Rank r computes with the blocks r, r - 1, ..., and receives each block from the rank before it. Partial
// results of a block travel with it, one step behind its computation. A rank keeps the term of its own block,
// and the sum of the other ranks' terms arrives last.
//
// In zigzag (dialects/Comm/Zigzag.h) a rank's block and its queries are two pieces of the sequence.
// comm-partition has made one op for each half of the queries. Both ops share a ring, and each computes with
// each half of a block, whose start differs. Under a causal mask the first half of queries attends to no second
// half of any block.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/HeldStarts.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#define GEN_PASS_DEF_FORMRINGSPASS
#include "passes/Collectives/Passes.h"
#include "passes/Collectives/Rings.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Values = SmallVector<Value>;

namespace {
/// The start positions of blocks, computed once at the front of a function.
class BlockStarts {
public:
  explicit BlockStarts(func::FuncOp function) : function(function) {}

  /// Returns the start of a piece of the block that is `step` ranks from its owner.
  Value at(const Ring &ring, int64_t step, int64_t piece);

  /// Erases starts without readers: those for ops whose mask admits all positions.
  void eraseUnread();

private:
  Value blockAt(OpBuilder &builder, const Ring &ring, int64_t step);
  Value make(OpBuilder &builder, const Ring &ring, int64_t step, int64_t piece);

  func::FuncOp function;
  Operation *last = nullptr; ///< The last op made here.
  DenseMap<std::pair<AxesAttr, int64_t>, Value> blocks;
  DenseMap<std::tuple<AxesAttr, int64_t, int64_t, int64_t>, Value> starts;
};

/// Builds the ring of some ops.
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
  Values sendToNextRank(ValueRange values) {
    auto permute = builder.create<PermuteOp>(last.getLoc(), values, pairs, ring.mesh, ring.axes);
    permute->setAttr(kHeldStart, builder.getUnitAttr());
    return permute->getResults();
  }
  /// Computes with a block and merges the results that do not belong to blocks. Returns the other results,
  /// which are sent.
  Values compute(ValueRange block, int64_t step);
  SmallVector<int64_t, 2> piecesFor(const RingOp &member, int64_t step) const;
  Values pieceOf(ValueRange block, int64_t piece);
  Values computePiece(const RingOp &member, ValueRange piece, int64_t step, int64_t number);
  /// Returns the results that belong to blocks and have readers.
  Values readOf(ValueRange results);
  Values restOf(ValueRange results);
  Values joinPieces(ArrayRef<Values> pieces);
  Values sums(ValueRange lhs, ValueRange rhs);

  ArrayRef<RingOp> ops;
  BlockwiseOpInterface last;
  const Ring &ring;
  BlockStarts &starts;
  BlockDims dims;
  OpBuilder builder;
  tg::TensorBuilder t;
  SmallVector<int64_t> pairs;
  SmallVector<Values> rest; ///< For each op, its merged results of all blocks so far.
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
// Start positions of blocks
//===----------------------------------------------------------------------===//

Value BlockStarts::at(const Ring &ring, int64_t step, int64_t piece) {
  Value &start = starts[{ring.axes, ring.size(), step, piece}];
  if (start)
    return start;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  if (last)
    builder.setInsertionPointAfter(last);
  start = make(builder, ring, step, piece);
  last = start.getDefiningOp();
  return start;
}

/// Returns (rank - step) mod ranks.
Value BlockStarts::blockAt(OpBuilder &builder, const Ring &ring, int64_t step) {
  Value &block = blocks[{ring.axes, step}];
  if (block)
    return block;
  if (!step)
    return block = builder.create<AxisIndexOp>(function.getLoc(), ring.mesh, ring.axes);
  tg::TensorBuilder t(builder, function.getLoc());
  Value rank = blockAt(builder, ring, 0);
  Value before = t.make<arith::SubIOp>(rank, t.constantLike(rank, step));
  Value wrapped = t.make<arith::AddIOp>(rank, t.constantLike(rank, ring.ranks - step));
  Value isBefore = t.compare(arith::CmpIPredicate::sge, before, t.constantLike(rank, 0));
  return blocks[{ring.axes, step}] = t.select(isBefore, before, wrapped);
}

/// Returns the start of a block in positions; the second piece in zigzag is as far from the end as the first
/// from the start.
Value BlockStarts::make(OpBuilder &builder, const Ring &ring, int64_t step, int64_t piece) {
  tg::TensorBuilder t(builder, function.getLoc());
  Value block = blockAt(builder, ring, step);
  if (piece)
    block = t.make<arith::SubIOp>(t.constantLike(block, static_cast<double>(2 * ring.ranks - 1)), block);
  // The multiplication is made last for every kind of block.
  return t.make<arith::MulIOp>(block, t.constantLike(block, ring.size()));
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

/// Returns the pieces that a half of queries attends to. For the rank's own block, the piece with the same
/// positions is first.
SmallVector<int64_t, 2> RingBuilder::piecesFor(const RingOp &member, int64_t step) const {
  auto pieces = llvm::to_vector<2>(llvm::seq<int64_t>(0, ring.pieces()));
  if (step == 0 && member.half == 1)
    std::swap(pieces.front(), pieces.back());
  llvm::erase_if(pieces, [&](int64_t piece) { return member.attendsToNothing(piece); });
  return pieces;
}

/// If the mask admits all of a piece, the op needs neither mask nor positions.
Values RingBuilder::computePiece(const RingOp &member, ValueRange piece, int64_t step, int64_t number) {
  BlockwiseOpInterface op = member.op;
  if (!member.attendsToAll(number))
    return op.buildOnBlock(builder, piece, starts.at(ring, step, number));
  auto unmasked = cast<BlockwiseOpInterface>(builder.clone(*op));
  unmasked.attendToAll();
  Values results = unmasked.buildOnBlock(builder, piece, starts.at(ring, step, number));
  unmasked->erase();
  return results;
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
      Values results = computePiece(member, operands[piece], step, piece);
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

/// Joins the results of pieces in the types in which they are sent. A piece that no query attends to gets
/// zeros.
Values RingBuilder::joinPieces(ArrayRef<Values> pieces) {
  Values joined;
  size_t place = 0;
  for (auto [entry, reader] : llvm::zip_equal(dims.results, ring.scatters)) {
    ReduceScatterOp scatter = reader;
    if (!scatter)
      continue;
    Type element = tg::typeOf(scatter.getIns().front()).getElementType();
    auto parts = llvm::map_to_vector(pieces, [&](const Values &piece) {
      return piece.empty() ? t.zeros(tg::withElement(tg::typeOf(pieces.front()[place]), element))
                           : t.convert(piece[place], element);
    });
    joined.push_back(parts.size() == 1 ? parts.front() : t.make<tg::ConcatOp>(parts, entry.second));
    ++place;
  }
  return joined;
}

/// Adds in f32 and rounds to the type that is sent.
Values RingBuilder::sums(ValueRange lhs, ValueRange rhs) {
  Values sums;
  for (auto [one, other] : llvm::zip_equal(lhs, rhs)) {
    Value wide = t.widen(one);
    sums.push_back(t.convert(t.add(wide, t.widen(other)), tg::typeOf(one).getElementType()));
  }
  return sums;
}

/// Backward and other ops read the results of both halves joined into a whole. If backward slices the halves
/// from the whole, only the whole is kept.
static void readJoinedHalves(OpResult half) {
  auto isWhole = [](Operation *user) { return isa<tg::ConcatOp>(user) && !user->use_empty(); };
  auto whole = llvm::find_if(half.getUsers(), isWhole);
  if (whole == half.getUsers().end())
    return;
  auto concat = cast<tg::ConcatOp>(*whole);
  int64_t dim = concat.getDim(), size = tg::typeOf(half).getDimSize(dim);
  int64_t offset = concat.getInputs().front() == half ? 0 : tg::typeOf(concat.getResult()).getDimSize(dim) - size;
  for (OpOperand &use : llvm::make_early_inc_range(half.getUses())) {
    Operation *user = use.getOwner();
    if (user == concat || user->isBeforeInBlock(concat))
      continue;
    OpBuilder builder(user);
    use.set(tg::TensorBuilder(builder, user->getLoc()).slice(concat, dim, offset, size));
  }
}

void RingBuilder::build() {
  for (const RingOp &member : ops) {
    member.op->removeAttr(kHalf);
    if (member.half)
      llvm::for_each(member.op->getResults(), readJoinedHalves);
  }
  // Each send stands before the computation that overlaps it.
  Values block = ring.own, next = sendToNextRank(block), home = compute(block, 0), follows;
  for (int64_t step = 1; step < ring.ranks; ++step) {
    block = next;
    if (step + 1 < ring.ranks)
      next = sendToNextRank(block);
    Values received = follows.empty() ? Values() : sendToNextRank(follows);
    follows = compute(block, step);
    if (!received.empty())
      follows = sums(received, follows);
  }
  Values totals = home.empty() ? Values() : sums(home, sendToNextRank(follows));

  auto total = totals.begin();
  for (ReduceScatterOp scatter : ring.scatters)
    if (scatter)
      tg::replaceAndTransferFacts(scatter, *total++);
  for (auto [member, results] : llvm::zip_equal(ops, rest)) {
    auto merged = results.begin();
    for (OpResult result : member.op->getResults())
      if (!belongsToBlock(result.getResultNumber()))
        result.replaceAllUsesWith(t.convert(*merged++, tg::typeOf(result).getElementType()));
  }
}

/// Erases an op without use, and all its readers, which the ring has replaced.
static void eraseWithReaders(Operation *op) {
  while (!op->use_empty())
    eraseWithReaders(*op->getUsers().begin());
  op->erase();
}

/// Erases an op, and the gathers of blocks that only this op reads.
static void eraseWithGathers(Operation *op) {
  SetVector<Operation *> before;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp(); isa_and_nonnull<AllGatherOp, tg::ReorderOp>(definition))
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
