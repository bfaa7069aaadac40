//===- ChunkSite.cpp - a collective and the contractions beside it --------===//
//
// Rows are the first dim with more than one index, so that a chunk of them is one range of memory, and
// chunks that are joined are written where they belong.  Which ops keep rows apart, their sharding rules
// say:
//
//   behind a contraction   from what is sent back to the contractions, as far as nothing else reads
//                          what is between: a sum of several, a conversion
//   before contractions    from what is received on to the contractions that read it, if only converted
//                          first, and through what is computed of their results element by element: a
//                          bias, an activation
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

/// Whether chunks along a dim are ranges of memory.
static bool isOutermost(RankedTensorType type, unsigned dim) {
  return llvm::all_of(type.getShape().take_front(dim), [](int64_t size) { return size == 1; });
}

/// The dim of rows in what a collective sends and receives; none where it is cut by ranks.
static std::optional<unsigned> rowsOf(CollectiveOpInterface op) {
  if (op.getSent().size() != 1 || op->getNumOperands() != 1 || op->getNumResults() != 1 || op.getRootRank() ||
      op.getRow().isTransfer())
    return std::nullopt;
  RankedTensorType sent = tg::typeOf(op.getSent().front()), received = tg::typeOf(op->getResult(0));
  for (int64_t dim = 0; dim + 1 < sent.getRank(); ++dim) {
    if (sent.getDimSize(dim) == 1)
      continue;
    bool isCut = llvm::any_of(llvm::concat<const int64_t>(op.getSentDims(), op.getReceivedDims()),
                              [&](int64_t cut) { return cut < 0 || cut == dim; });
    return isCut || !isOutermost(received, dim) ? std::nullopt : std::optional<unsigned>(dim);
  }
  return std::nullopt;
}

/// How an op keeps the rows of a value apart that it makes or reads; none where it does not.
static std::optional<ChunkDims> dimsOf(Operation *op, Value value, unsigned at) {
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  if (!rule || !isMemoryEffectFree(op) || op->getNumRegions() != 0 || op->getNumResults() == 0)
    return std::nullopt;
  const ShardingRule::TensorFactors *tensor = nullptr;
  for (auto [result, factors] : llvm::zip_equal(op->getResults(), rule->results))
    if (result == value)
      tensor = &factors;
  for (auto [operand, factors] : llvm::zip_equal(op->getOperands(), rule->operands))
    if (!tensor && operand == value)
      tensor = &factors;
  if (!tensor || (*tensor)[at].empty())
    return std::nullopt;
  unsigned factor = (*tensor)[at].front();
  ChunkDims dims = ChunkDims::along(std::move(*rule), factor);
  const Factor &rows = dims.getFactor();
  auto areOutermost = [](ValueRange values, ArrayRef<std::optional<unsigned>> at) {
    return llvm::all_of(llvm::zip_equal(values, at), [](auto pair) {
      auto [value, dim] = pair;
      return !dim || isOutermost(tg::typeOf(value), *dim);
    });
  };
  bool keepsRows = rows.kind == FactorKind::Parallel && !rows.decomposed &&
                   llvm::all_of(dims.results, [](auto dim) { return dim.has_value(); }) &&
                   areOutermost(op->getResults(), dims.results) && areOutermost(op->getOperands(), dims.operands);
  return keepsRows ? std::optional(std::move(dims)) : std::nullopt;
}

static bool isContraction(Operation *op) { return numericKindOf(op) == NumericKind::Contraction; }
static bool isElementwise(Operation *op) { return numericKindOf(op) == NumericKind::Elementwise; }

/// Whether both belong to the same part of the program.
static bool areTogether(Operation *a, Operation *b) {
  return tg::phaseOf(a) == tg::phaseOf(b) && tg::unitOf(tg::factsOf(a)) == tg::unitOf(tg::factsOf(b));
}

bool ChunkSite::hasContraction() const {
  return llvm::any_of(ops, [](const auto &entry) { return isContraction(entry.first); });
}

bool ChunkSite::canSplit(int64_t count) const {
  return tg::typeOf(collective->getResult(0)).getDimSize(dim) % count == 0 &&
         llvm::all_of(ops, [&](const auto &entry) { return entry.second.getFactor().size % count == 0; });
}

//===----------------------------------------------------------------------===//
// What is computed in chunks
//===----------------------------------------------------------------------===//

/// Of a broadcast that has the same for all rows: each chunk makes its own.
static std::optional<ChunkDims> dimsOfBroadcast(Value value, unsigned at) {
  Operation *op = value.getDefiningOp();
  if (!op || numericKindOf(op) != NumericKind::Movement)
    return std::nullopt;
  std::optional<ChunkDims> dims = dimsOf(op, value, at);
  bool isAlike = dims && llvm::none_of(dims->operands, [](auto dim) { return dim.has_value(); });
  return isAlike ? std::move(dims) : std::nullopt;
}

void ChunkSite::addBroadcast(Value value, ChunkDims dims) {
  if (ops.insert({value.getDefiningOp(), std::move(dims)}).second)
    broadcasts.push_back(value.getDefiningOp());
}

/// Adds what makes a value that nothing else reads, if that leads to contractions.
bool ChunkSite::addMaker(Value value, unsigned at) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getBlock() != collective->getBlock() || op->getNumResults() != 1 ||
      !(isContraction(op) || isElementwise(op) || handsOnNumbers(op)))
    return false;
  std::optional<ChunkDims> dims = dimsOf(op, value, at);
  if (!dims)
    return false;
  bool leads = isContraction(op);
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands))
    if (dim && !isContraction(op))
      leads |= addMaker(operand, *dim);
  if (!leads)
    return false;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands))
    if (dim && !ops.contains(operand.getDefiningOp()))
      if (std::optional<ChunkDims> broadcast = dimsOfBroadcast(operand, *dim))
        addBroadcast(operand, std::move(*broadcast));
  ops.insert({op, std::move(*dims)});
  return true;
}

bool ChunkSite::findMakers() {
  behind = true;
  place = collective;
  return addMaker(collective.getSent().front(), dim);
}

/// Whether a value is there at the place, or can be: it is gathered, moved or rounded of what is.
bool ChunkSite::isThere(Value value, SmallVectorImpl<Operation *> &before) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(place) || llvm::is_contained(before, op) || llvm::is_contained(early, op))
    return true;
  auto communicates = dyn_cast<CollectiveOpInterface>(op);
  bool mayMove = handsOnNumbers(op) || op->hasTrait<OpTrait::ConstantLike>() ||
                 (communicates && !communicates.getReductionKind() && communicates->getNumResults() != 0);
  if (!mayMove || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return isThere(operand, before); }))
    return false;
  before.push_back(op);
  return true;
}

/// How an op keeps the rows apart that it reads, if it is to be computed in chunks.
std::optional<ChunkDims> ChunkSite::dimsOfReader(Operation *op, const DenseMap<Value, unsigned> &rows) const {
  std::optional<ChunkDims> dims;
  bool isReceived = true, isOfContractions = true;
  for (Value operand : op->getOperands()) {
    auto read = rows.find(operand);
    if (read == rows.end())
      continue;
    if (!dims)
      dims = dimsOf(op, operand, read->second);
    if (!dims)
      return std::nullopt;
    bool isRounded = isConversion(operand.getDefiningOp()) && convertedFrom(operand) == collective->getResult(0);
    (operand == collective->getResult(0) || isRounded ? isOfContractions : isReceived) = false;
  }
  bool isOne = isReceived ? isContraction(op) || isConversion(op) : isElementwise(op) && isOfContractions;
  bool agrees = llvm::all_of(llvm::zip_equal(op->getOperands(), dims->operands), [&](auto pair) {
    auto read = rows.find(std::get<0>(pair));
    return read == rows.end() || std::get<1>(pair) == std::optional(read->second);
  });
  return isOne && agrees && areTogether(op, place) ? std::move(dims) : std::nullopt;
}

/// Adds an op that reads rows, if the rest of what it reads is there.
bool ChunkSite::addReader(Operation *op, const DenseMap<Value, unsigned> &rows) {
  std::optional<ChunkDims> dims = dimsOfReader(op, rows);
  if (!dims)
    return false;
  SmallVector<Operation *> before;
  SmallVector<std::pair<Value, ChunkDims>, 2> made;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims->operands)) {
    if (rows.contains(operand))
      continue;
    std::optional<ChunkDims> broadcast = dim && isElementwise(op) ? dimsOfBroadcast(operand, *dim) : std::nullopt;
    bool areThere = broadcast ? llvm::all_of(operand.getDefiningOp()->getOperands(),
                                             [&](Value value) { return isThere(value, before); })
                              : isThere(operand, before);
    if (!areThere)
      return false;
    if (broadcast)
      made.push_back({operand, std::move(*broadcast)});
  }
  for (auto &[value, its] : made)
    addBroadcast(value, std::move(its));
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
  std::optional<unsigned> dim = rowsOf(collective);
  if (!dim)
    return std::nullopt;
  ChunkSite behind(collective, *dim), before(collective, *dim);
  if (behind.findMakers())
    return behind;
  return before.findReaders() ? std::optional(std::move(before)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// A chunk of a value: made, or cut once.
Value ChunkSite::partOf(OpBuilder &builder, Location loc, Value value, unsigned at, int64_t number, int64_t count,
                        Chunk &made) const {
  Value &part = made[value];
  if (!part)
    part = sliceChunk(builder, tg::withoutTensor(loc), value, at, number, count);
  return part;
}

void ChunkSite::buildOps(OpBuilder &builder, int64_t number, int64_t count, Chunk &made) const {
  for (auto &[op, dims] : ops) {
    SmallVector<Value> operands;
    for (auto [operand, at] : llvm::zip_equal(op->getOperands(), dims.operands))
      operands.push_back(at ? partOf(builder, op->getLoc(), operand, *at, number, count, made) : operand);
    for (auto [result, part] :
         llvm::zip_equal(op->getResults(), buildChunk(builder, op, dims, operands, number, count)))
      made[result] = part;
  }
}

/// Chunks that are received for contractions belong to the unit of these: a stage of a pipeline then makes them
/// itself, and has no need to be sent them beside what they are made of.
Location ChunkSite::locationOfChunks() const {
  Location location = collective->getLoc();
  tg::FactsAttr facts = tg::factsOf(tg::withoutTensor(place->getLoc()));
  return behind || !facts ? location : tg::withFacts(location, facts);
}

/// Joins the chunks of a value for those that read all of it.
void ChunkSite::join(OpBuilder &builder, Location loc, Value value, unsigned at, ArrayRef<Chunk> chunks) {
  auto isElse = [&](OpOperand &use) { return use.getOwner() != collective && !ops.contains(use.getOwner()); };
  if (llvm::none_of(value.getUses(), isElse))
    return;
  auto parts = llvm::map_to_vector(chunks, [&](const Chunk &chunk) { return chunk.at(value); });
  Value joined = tg::TensorBuilder(builder, loc).make<tg::ConcatOp>(parts, at);
  value.replaceUsesWithIf(joined, isElse);
}

void ChunkSite::split(int64_t count) {
  for (Operation *op : early)
    op->moveBefore(place);
  auto sorted = ops.takeVector();
  llvm::sort(sorted, [](const auto &a, const auto &b) { return a.first->isBeforeInBlock(b.first); });
  for (auto &entry : sorted)
    ops.insert(std::move(entry));

  OpBuilder builder(place);
  Value sent = collective.getSent().front(), received = collective->getResult(0);
  Location loc = locationOfChunks();
  std::vector<Chunk> chunks(count);
  for (auto [number, made] : llvm::enumerate(chunks)) {
    if (behind)
      buildOps(builder, number, count, made);
    Value part = partOf(builder, loc, sent, dim, number, count, made);
    Operation *chunk = builder.clone(*collective);
    chunk->setLoc(loc);
    chunk->setOperand(0, part);
    chunk->getResult(0).setType(typeOfChunk(received, dim, count));
    made[received] = chunk->getResult(0);
    if (!behind)
      buildOps(builder, number, count, made);
  }
  join(builder, loc, received, dim, chunks);
  for (auto &[op, dims] : ops)
    if (!llvm::is_contained(broadcasts, op))
      for (auto [result, at] : llvm::zip_equal(op->getResults(), dims.results))
        join(builder, tg::locationOf(result), result, *at, chunks);
  if (behind)
    collective->erase();
  for (auto &[op, dims] : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  if (!behind)
    collective->erase();
}
