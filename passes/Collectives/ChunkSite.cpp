//===- ChunkSite.cpp - a collective and the contractions beside it --------===//
//
// The dim of rows is the first dim with more than one index. A chunk of rows is therefore one range of memory,
// and chunks are written straight to their places in the whole. If this dim holds blocks of ranks, a chunk has
// a part of each block: several ranges, which contractions read and write in place. Sharding rules say which
// ops keep rows apart:
//
//   behind a contraction   from the sent value back to the contractions, through values without other
//                          readers: a sum of several, a conversion
//   before contractions    from the received value to the contractions that read it, at most through a
//                          conversion, and on through elementwise ops on their results: a bias, an
//                          activation
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/ChunkSite.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Whether each chunk along a dim is one range of memory.
static bool isOutermost(RankedTensorType type, unsigned dim) {
  return llvm::all_of(type.getShape().take_front(dim), [](int64_t size) { return size == 1; });
}

namespace {
/// The dim of rows in the sent and received values of a collective, and the number of ranks' blocks in each.
struct Rows {
  unsigned dim;
  int64_t sent = 1, received = 1;
};
} // namespace

/// Returns nothing if rows cannot be cut: both sides hold blocks of ranks, or they are flat, or no dim before
/// the rows can hold the blocks.
static std::optional<Rows> rowsOf(CollectiveOpInterface op) {
  if (op.getSent().size() != 1 || op->getNumOperands() != 1 || op->getNumResults() != 1 || op.getRootRank() ||
      op.getRow().isTransfer())
    return std::nullopt;
  RankedTensorType sent = tg::typeOf(op.getSent().front()), received = tg::typeOf(op->getResult(0));
  if (sent.getRank() != received.getRank()) // flat
    return std::nullopt;
  auto isCut = [](ArrayRef<int64_t> dims, int64_t dim) {
    return llvm::any_of(dims, [&](int64_t cut) { return cut < 0 || cut == dim; });
  };
  for (int64_t dim = 0; dim + 1 < sent.getRank(); ++dim) {
    int64_t from = sent.getDimSize(dim), to = received.getDimSize(dim);
    if (from == 1 && to == 1)
      continue;
    bool cutsSent = isCut(op.getSentDims(), dim), cutsReceived = isCut(op.getReceivedDims(), dim);
    if (!cutsSent && !cutsReceived)
      return Rows{unsigned(dim)};
    bool areBlocks = cutsSent != cutsReceived && dim > 0 && (cutsSent ? from % to : to % from) == 0 && from != to;
    if (!areBlocks)
      return std::nullopt;
    return cutsSent ? Rows{unsigned(dim), from / to, 1} : Rows{unsigned(dim), 1, to / from};
  }
  return std::nullopt;
}

/// Returns the dims of an op whose rows correspond to the rows of `value`, an operand or result. Returns
/// nothing if the op mixes rows, or if it has no dim for the blocks of a chunk.
static std::optional<FactorDims> dimsOf(Operation *op, Value value, unsigned at, int64_t blocks) {
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0 || op->getNumResults() == 0)
    return std::nullopt;
  std::optional<FactorDims> dims = FactorDims::through(op, value, at);
  if (!dims)
    return std::nullopt;
  const Factor &rows = dims->getFactor();
  auto areOutermost = [&](ValueRange values, ArrayRef<std::optional<unsigned>> at) {
    return llvm::all_of(llvm::zip_equal(values, at), [&](auto pair) {
      auto [value, dim] = pair;
      return !dim || (isOutermost(tg::typeOf(value), *dim) && (blocks == 1 || *dim > 0));
    });
  };
  bool keepsRows = dims->areOutermost() && rows.kind == FactorKind::Parallel && !rows.decomposed &&
                   (blocks == 1 || !rows.positional) &&
                   llvm::all_of(dims->results, [](auto dim) { return dim.has_value(); }) &&
                   areOutermost(op->getResults(), dims->results) && areOutermost(op->getOperands(), dims->operands);
  return keepsRows ? std::move(dims) : std::nullopt;
}

bool braid::isContraction(Operation *op) { return numericKindOf(op) == NumericKind::Contraction; }
static bool isElementwise(Operation *op) { return numericKindOf(op) == NumericKind::Elementwise; }

/// Whether both ops belong to the same phase and unit.
static bool areTogether(Operation *a, Operation *b) {
  return tg::phaseOf(a) == tg::phaseOf(b) && tg::unitOf(tg::factsOf(a)) == tg::unitOf(tg::factsOf(b));
}

bool ChunkSite::hasContraction() const {
  return llvm::any_of(ops, [](const auto &entry) { return isContraction(entry.first); });
}

bool ChunkSite::canSplit(int64_t count) const {
  return tg::typeOf(collective->getResult(0)).getDimSize(dim) % count == 0 &&
         tg::typeOf(collective->getOperand(0)).getDimSize(dim) % count == 0 &&
         llvm::all_of(ops, [&](const auto &entry) { return entry.second.getFactor().size % (blocks * count) == 0; });
}

/// Whether an op can be computed on chunks. If a chunk has parts of several blocks, the op must not name dims.
bool ChunkSite::supportsChunks(Operation *op) const {
  return isContraction(op) || isElementwise(op) || isConversion(op) || (blocks == 1 && onlyMovesOrRounds(op));
}

bool ChunkSite::isReadElsewhere(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) { return isUseOutside(use); });
}

/// The collective writes its received value as one range. A copy joins the chunks if their ranges are not
/// adjacent in the whole.
int64_t ChunkSite::getCopiedBytes() const {
  Value received = collective->getResult(0);
  return !behind && blocks > 1 && isReadElsewhere(received) ? bytesOf(received.getType()) : 0;
}

//===----------------------------------------------------------------------===//
// Ops that are computed in chunks
//===----------------------------------------------------------------------===//

/// Returns the dims of a broadcast that is equal for all rows; each chunk makes its own.
static std::optional<FactorDims> dimsOfBroadcast(Value value, unsigned at, int64_t blocks) {
  Operation *op = value.getDefiningOp();
  if (!op || numericKindOf(op) != NumericKind::Movement)
    return std::nullopt;
  std::optional<FactorDims> dims = dimsOf(op, value, at, blocks);
  bool isAlike = dims && llvm::none_of(dims->operands, [](auto dim) { return dim.has_value(); });
  return isAlike ? std::move(dims) : std::nullopt;
}

void ChunkSite::addBroadcast(Value value, FactorDims dims) {
  if (ops.insert({value.getDefiningOp(), std::move(dims)}).second)
    broadcasts.push_back(value.getDefiningOp());
}

/// Adds the producer of a value without other readers, if it leads to contractions.
bool ChunkSite::addProducer(Value value, unsigned at) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getBlock() != collective->getBlock() || op->getNumResults() != 1 ||
      !supportsChunks(op))
    return false;
  std::optional<FactorDims> dims = dimsOf(op, value, at, blocks);
  if (!dims)
    return false;
  bool leads = isContraction(op);
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands))
    if (dim && !isContraction(op))
      leads |= addProducer(operand, *dim);
  if (!leads)
    return false;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands))
    if (dim && !ops.contains(operand.getDefiningOp()))
      if (std::optional<FactorDims> broadcast = dimsOfBroadcast(operand, *dim, blocks))
        addBroadcast(operand, std::move(*broadcast));
  ops.insert({op, std::move(*dims)});
  return true;
}

bool ChunkSite::findProducers() {
  behind = true;
  place = collective;
  return addProducer(collective.getSent().front(), dim);
}

/// Whether a value is available at the place, or can be: it is gathered, moved or rounded from available
/// values.
bool ChunkSite::isAvailable(Value value, SmallVectorImpl<Operation *> &before) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(place) || llvm::is_contained(before, op) || llvm::is_contained(early, op))
    return true;
  auto communicates = dyn_cast<CollectiveOpInterface>(op);
  bool mayMove = onlyMovesOrRounds(op) || op->hasTrait<OpTrait::ConstantLike>() ||
                 (communicates && !communicates.getReductionKind() && communicates->getNumResults() != 0);
  if (!mayMove || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return isAvailable(operand, before); }))
    return false;
  before.push_back(op);
  return true;
}

/// Returns how an op keeps the rows of its operands apart, or nothing if it cannot be computed in chunks.
std::optional<FactorDims> ChunkSite::dimsOfReader(Operation *op, const DenseMap<Value, unsigned> &rows) const {
  std::optional<FactorDims> dims;
  bool isReceived = true, isOfContractions = true;
  for (Value operand : op->getOperands()) {
    auto read = rows.find(operand);
    if (read == rows.end())
      continue;
    if (!dims)
      dims = dimsOf(op, operand, read->second, blocks);
    if (!dims)
      return std::nullopt;
    // Without contiguous ranges in the whole, a chunk with other readers would be copied.
    if (blocks > 1 && operand != collective->getResult(0) && !operand.hasOneUse())
      return std::nullopt;
    bool isRounded = isConversion(operand.getDefiningOp()) && conversionSource(operand) == collective->getResult(0);
    (operand == collective->getResult(0) || isRounded ? isOfContractions : isReceived) = false;
  }
  bool isOne = isReceived ? isContraction(op) || isConversion(op) : isElementwise(op) && isOfContractions;
  bool agrees = llvm::all_of(llvm::zip_equal(op->getOperands(), dims->operands), [&](auto pair) {
    auto read = rows.find(std::get<0>(pair));
    return read == rows.end() || std::get<1>(pair) == std::optional(read->second);
  });
  return isOne && agrees && areTogether(op, place) ? std::move(dims) : std::nullopt;
}

/// Adds an op that reads rows, if its other operands are available.
bool ChunkSite::addReader(Operation *op, const DenseMap<Value, unsigned> &rows) {
  std::optional<FactorDims> dims = dimsOfReader(op, rows);
  if (!dims)
    return false;
  SmallVector<Operation *> before;
  SmallVector<std::pair<Value, FactorDims>, 2> made;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands)) {
    if (rows.contains(operand))
      continue;
    std::optional<FactorDims> broadcast =
        dim && isElementwise(op) ? dimsOfBroadcast(operand, *dim, blocks) : std::nullopt;
    bool areThere = broadcast ? llvm::all_of(operand.getDefiningOp()->getOperands(),
                                             [&](Value value) { return isAvailable(value, before); })
                              : isAvailable(operand, before);
    if (!areThere)
      return false;
    if (broadcast)
      made.push_back({operand, std::move(*broadcast)});
  }
  for (auto &[value, chunkDims] : made)
    addBroadcast(value, std::move(chunkDims));
  early.append(before);
  ops.insert({op, std::move(*dims)});
  return true;
}

bool ChunkSite::findReaders() {
  behind = false;
  Value received = collective->getResult(0);
  for (Operation *user : received.getUsers())
    if (!place || user->isBeforeInBlock(place))
      place = user;
  if (!place || place->getBlock() != collective->getBlock())
    return false;
  DenseMap<Value, unsigned> rows = {{received, dim}};
  for (Operation *op = place; op; op = op->getNextNode()) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) { return rows.contains(operand); });
    if (!reads || op->hasTrait<OpTrait::IsTerminator>() || !addReader(op, rows))
      continue;
    for (auto [result, at] : llvm::zip_equal(op->getResults(), ops.find(op)->second.results))
      rows[result] = *at;
  }
  return hasContraction();
}

std::optional<ChunkSite> ChunkSite::find(CollectiveOpInterface collective) {
  std::optional<Rows> rows = rowsOf(collective);
  if (!rows)
    return std::nullopt;
  ChunkSite ofMakers(collective, rows->dim, rows->sent), ofReaders(collective, rows->dim, rows->received);
  if (rows->received == 1 && ofMakers.findProducers())
    return ofMakers;
  return rows->sent == 1 && ofReaders.findReaders() ? std::optional(std::move(ofReaders)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// Returns a chunk of a value: the computed one, or a slice that is made once.
static Value partOf(OpBuilder &builder, Location loc, Value value, unsigned dim, int64_t number, Cut cut,
                    DenseMap<Value, Value> &made) {
  Value &part = made[value];
  if (!part)
    part = sliceChunk(builder, tg::withoutTensor(loc), value, dim, number, cut);
  return part;
}

void ChunkSite::buildOps(OpBuilder &builder, int64_t number, Cut cut, Chunk &made) const {
  for (auto &[op, dims] : ops) {
    SmallVector<Value> operands;
    for (auto [operand, at] : llvm::zip_equal(op->getOperands(), dims.operands))
      operands.push_back(at ? partOf(builder, op->getLoc(), operand, *at, number, cut, made) : operand);
    for (auto [result, part] : llvm::zip_equal(op->getResults(), buildChunk(builder, op, dims, operands, number, cut)))
      made[result] = part;
  }
}

/// Sends a chunk as one range, with the blocks of ranks side by side.
void ChunkSite::buildCollective(OpBuilder &builder, Location loc, int64_t number, int64_t count, Chunk &made) const {
  Value sent = collective->getOperand(0), received = collective->getResult(0);
  tg::TensorBuilder t(builder, tg::withoutTensor(loc));
  Value part = partOf(builder, loc, sent, dim, number, {count}, made);
  if (RankedTensorType type = typeOfChunk(sent, dim, {count}); part.getType() != type)
    part = t.reshape(part, type.getShape());
  Operation *chunk = builder.clone(*collective);
  chunk->setLoc(loc);
  chunk->setOperand(0, part);
  chunk->getResult(0).setType(typeOfChunk(received, dim, {count}));
  made[received] = chunk->getResult(0);
  if (RankedTensorType type = typeOfChunk(received, dim, receivedCut(count)); made[received].getType() != type)
    made[received] = t.reshape(made[received], type.getShape());
}

/// Chunks that contractions receive belong to the unit of these contractions. A pipeline stage then computes
/// them itself; no message sends them in addition to their operands.
Location ChunkSite::locationOfChunks() const {
  Location location = collective->getLoc();
  tg::FactsAttr facts = tg::factsOf(tg::withoutTensor(place->getLoc()));
  return behind || !facts ? location : tg::withFacts(location, facts);
}

/// Joins the chunks of a value for readers of the whole value.
void ChunkSite::join(OpBuilder &builder, Location loc, Value value, unsigned at, Cut cut, ArrayRef<Chunk> chunks) {
  if (!isReadElsewhere(value))
    return;
  auto parts = llvm::map_to_vector(chunks, [&](const Chunk &chunk) { return chunk.at(value); });
  Value joined = joinChunks(builder, loc, parts, tg::typeOf(value), at, cut);
  value.replaceUsesWithIf(joined, [&](OpOperand &use) { return isUseOutside(use); });
}

void ChunkSite::split(int64_t count) {
  for (Operation *op : early)
    op->moveBefore(place);
  auto sorted = ops.takeVector();
  llvm::sort(sorted, [](const auto &a, const auto &b) { return a.first->isBeforeInBlock(b.first); });
  for (auto &entry : sorted)
    ops.insert(std::move(entry));

  OpBuilder builder(place);
  Location loc = locationOfChunks();
  Cut cut{count, blocks};
  std::vector<Chunk> chunks(count);
  for (auto [number, made] : llvm::enumerate(chunks)) {
    if (behind)
      buildOps(builder, number, cut, made);
    buildCollective(builder, loc, number, count, made);
    if (!behind)
      buildOps(builder, number, cut, made);
  }
  join(builder, loc, collective->getResult(0), dim, receivedCut(count), chunks);
  for (auto &[op, dims] : ops)
    if (!llvm::is_contained(broadcasts, op))
      for (auto [result, at] : llvm::zip_equal(op->getResults(), dims.results))
        join(builder, tg::locationOf(result), result, *at, cut, chunks);
  if (behind)
    collective->erase();
  for (auto &[op, dims] : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  if (!behind)
    collective->erase();
}
