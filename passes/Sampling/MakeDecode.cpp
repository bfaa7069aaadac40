//===- MakeDecode.cpp - compute only the next token -----------------------===//
//
// `decode` computes one position, like the rank of a mesh that has only this position. Where an op reads earlier
// positions, a cache holds them: `generate` stores its values of all positions there, and `decode` replaces its own
// row. Targets can add rows in place: the old row is subtracted first, which leaves zeros, so the added row is exact.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "lib/Sharding/Chunks.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/ForwardFacts.h"
#include "passes/FrontEnd/PositionRow.h"
#define GEN_PASS_DEF_MAKEDECODEPASS
#include "passes/Sampling/Passes.h"
#include "passes/Sampling/PositionPlan.h"

using namespace mlir;
using namespace braid;

/// Tokens have the shape [batch, sequence].
static constexpr unsigned kTokenDim = 1;

/// Returns the dims of a tensor with the sequence dim first.
static SmallVector<int64_t> sequenceFirst(Value value, unsigned dim) {
  SmallVector<int64_t> order{static_cast<int64_t>(dim)};
  llvm::append_range(order, tg::otherDims({static_cast<int64_t>(dim)}, tg::typeOf(value).getRank()));
  return order;
}

/// Whether only dims of size 1 precede the sequence dim, so that moving it to the front keeps the element order.
static bool movesOnlyOnes(Value value, unsigned dim) {
  return llvm::all_of(tg::typeOf(value).getShape().take_front(dim), [](int64_t size) { return size == 1; });
}

/// Returns the type of a cache: one row per position.
static RankedTensorType cacheType(Value value, unsigned dim) {
  RankedTensorType type = tg::typeOf(value);
  int64_t positions = type.getDimSize(dim);
  return tg::withShape(type, {positions, type.getNumElements() / positions});
}

//===----------------------------------------------------------------------===//
// The program of a position
//===----------------------------------------------------------------------===//

namespace {
/// Builds the ops of a function for one position, behind the original ops.
class PositionBuilder {
public:
  PositionBuilder(func::FuncOp function, const PositionPlan &plan)
      : function(function), plan(plan), tokens(argumentWithRole(function, tg::Role::Tokens)),
        position(argumentWithRole(function, tg::Role::Position)), builder(returnOf(function)) {}

  void build();

private:
  using Key = std::pair<Value, unsigned>;

  void addArguments();
  void buildWhole(OpResult value);
  void buildRow(OpResult value, unsigned dim);
  void buildCausal(CausalOpInterface op, const SequenceDims &dims);
  Value atPosition(Value value, unsigned dim);
  Value wholeOf(Value value) { return plan.dependsOnTokens(value) ? whole.lookup(value) : value; }
  /// Returns the values of all positions up to this one.
  Value past(const CachedValue &cache);

  func::FuncOp function;
  const PositionPlan &plan;
  BlockArgument tokens, position;
  OpBuilder builder;
  DenseMap<Value, Value> whole;
  DenseMap<Key, Value> rows;
  /// For each cached value: its cache argument, the cache with the row of this position, and this cache in the shape
  /// of the value.
  DenseMap<Value, Value> arguments, updated, pasts;
};
} // namespace

Value PositionBuilder::atPosition(Value value, unsigned dim) {
  if (value == tokens)
    return rows.lookup({value, dim});
  Value &row = rows[{value, dim}];
  if (!row) { // a value that does not depend on tokens
    tg::TensorBuilder b(builder, value.getLoc());
    row = b.at(value, dim, position);
  }
  return row;
}

Value PositionBuilder::past(const CachedValue &cache) {
  Value &all = pasts[cache.value];
  if (all)
    return all;
  RankedTensorType type = cacheType(cache.value, cache.dim);
  tg::TensorBuilder b(builder, cache.value.getLoc());
  Value old = arguments.lookup(cache.value);
  Value row = b.reshape(atPosition(cache.value, cache.dim), {1, type.getDimSize(1)});
  auto addRow = [&](Value table, Value row) {
    return b.add(table, b.make<tg::ScatterAddOp>(type, b.reshape(position, {1}), row));
  };
  Value next = updated[cache.value] = addRow(addRow(old, b.neg(b.at(old, 0, position))), row);
  if (movesOnlyOnes(cache.value, cache.dim))
    return all = b.reshape(next, tg::typeOf(cache.value).getShape());
  SmallVector<int64_t> order = sequenceFirst(cache.value, cache.dim), shape, back(order.size());
  for (auto [place, dim] : llvm::enumerate(order)) {
    shape.push_back(tg::typeOf(cache.value).getDimSize(dim));
    back[dim] = place;
  }
  return all = b.transpose(b.reshape(next, shape), back);
}

void PositionBuilder::buildWhole(OpResult value) {
  if (!plan.dependsOnTokens(value) || whole.contains(value))
    return;
  Operation *op = value.getOwner();
  if (Value table = extractedFrom(op, position)) {
    tg::TensorBuilder b(builder, op->getLoc());
    whole[value] = b.reshape(atPosition(table, 0), tg::typeOf(value).getShape());
    return;
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, wholeOf(operand));
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, made] : llvm::zip_equal(op->getResults(), copy->getResults()))
    whole[result] = made;
}

void PositionBuilder::buildRow(OpResult value, unsigned dim) {
  if (rows.contains({value, dim}))
    return;
  Operation *op = value.getOwner();
  if (auto causal = dyn_cast<CausalOpInterface>(op))
    if (std::optional<SequenceDims> dims = causal.getSequenceDims())
      return buildCausal(causal, *dims);
  std::optional<FactorDims> dims = plan.dimsOf(value, dim);
  if (!dims)
    return; // does not depend on tokens: its readers pick the row
  SmallVector<Value> operands;
  for (auto [operand, at] : llvm::zip_equal(op->getOperands(), dims->operands))
    operands.push_back(at ? atPosition(operand, *at) : wholeOf(operand));
  SmallVector<Value> made =
      buildChunkAt(builder, op, *dims, operands, {dims->getFactor().size}, [&] { return position; });
  for (auto [result, at, built] : llvm::zip_equal(op->getResults(), dims->results, made))
    if (at)
      rows[{result, *at}] = built;
}

void PositionBuilder::buildCausal(CausalOpInterface op, const SequenceDims &dims) {
  SmallVector<Value> operands;
  for (auto [number, dim] : llvm::enumerate(dims.operands)) {
    Value operand = op->getOperand(number);
    bool isPast = llvm::any_of(dims.past, [&](const auto &entry) { return entry.first == number; });
    auto cache = plan.getCaches().find(operand);
    if (!isPast)
      operands.push_back(dim ? atPosition(operand, *dim) : wholeOf(operand));
    else
      operands.push_back(cache == plan.getCaches().end() ? operand : past(cache->second));
  }
  SmallVector<Value> made = op.buildAtPosition(builder, operands, position);
  for (auto [result, dim, built] : llvm::zip_equal(op->getResults(), dims.results, made))
    rows[{result, *dim}] = built;
}

/// Adds the arguments: the one token and the caches.
void PositionBuilder::addArguments() {
  SignatureEditor editor(function);
  SmallVector<int64_t> shape(tg::typeOf(tokens).getShape());
  shape[kTokenDim] = 1;
  rows[{tokens, kTokenDim}] = editor.addArgument(tg::withShape(tg::typeOf(tokens), shape),
                                                 function.getArgAttrDict(tokens.getArgNumber()).getValue());
  for (const auto &[value, cache] : plan.getCaches())
    arguments[value] = editor.addState(cacheType(value, cache.dim), cache.name, tg::TensorKind::Cache, {});
  editor.finish();
}

void PositionBuilder::build() {
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  addArguments();
  for (Operation *op : ops)
    for (OpResult result : op->getResults()) {
      if (plan.isNeededWhole(result))
        buildWhole(result);
      for (unsigned dim : plan.getNeededDims(result))
        buildRow(result, dim);
    }
  func::ReturnOp returned = returnOf(function);
  for (OpOperand &operand : returned->getOpOperands())
    operand.set(wholeOf(operand.get()));
  SignatureEditor editor(function);
  for (const auto &[value, cache] : plan.getCaches())
    editor.addResult(updated.lookup(value), tg::kUpdates, cache.name);
  editor.finish();
  eraseDeadOps(function);
  eraseUnusedInputs(function);
}

//===----------------------------------------------------------------------===//
// The program that fills the caches
//===----------------------------------------------------------------------===//

/// Adds cache results to a program that computes all positions.
static void fillCaches(func::FuncOp function, const PositionPlan &plan) {
  OpBuilder builder(function.getContext());
  SignatureEditor editor(function);
  for (const auto &[value, cache] : plan.getCaches()) {
    // Caches are built at the values, so that live ranges stay as in a program without caches.
    builder.setInsertionPointAfterValue(value);
    RankedTensorType type = cacheType(value, cache.dim);
    editor.addState(type, cache.name, tg::TensorKind::Cache, {});
    tg::TensorBuilder b(builder, value.getLoc());
    Value first = movesOnlyOnes(value, cache.dim) ? value : b.transpose(value, sequenceFirst(value, cache.dim));
    editor.addResult(b.reshape(first, type.getShape()), tg::kUpdates, cache.name);
  }
  editor.finish();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct MakeDecode final : braid::impl::MakeDecodePassBase<MakeDecode> {
  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    auto generate = symbols.lookup<func::FuncOp>("generate");
    if (!generate || generate.isExternal() || !takesSequence(generate))
      return;
    if (symbols.lookup("decode")) {
      generate.emitError() << "the module already has a function 'decode'; rename it";
      return signalPassFailure();
    }
    std::string why;
    if (failed(replaceComposites(generate, why))) {
      generate.emitRemark() << "gets no program 'decode', so each sampled token costs a whole window: " << why;
      return;
    }
    func::FuncOp decode = generate.clone();
    decode.setName("decode");
    symbols.insert(decode, std::next(Block::iterator(generate)));
    PositionPlan plan = planOf(generate), own = planOf(decode);
    if (failed(plan.find(why)) || failed(own.find(why)))
      llvm_unreachable("there was a plan before");
    fillCaches(generate, plan);
    PositionBuilder(decode, own).build();
    for (func::FuncOp function : {generate, decode})
      setForwardFacts(function);
  }

  /// Whether the function has a position argument and more than one token.
  static bool takesSequence(func::FuncOp function) {
    BlockArgument tokens = argumentWithRole(function, tg::Role::Tokens);
    return tokens && argumentWithRole(function, tg::Role::Position) && tg::typeOf(tokens).getRank() == kTokenDim + 1 &&
           tg::typeOf(tokens).getDimSize(kTokenDim) > 1;
  }

  static PositionPlan planOf(func::FuncOp function) {
    return {function, argumentWithRole(function, tg::Role::Tokens), argumentWithRole(function, tg::Role::Position)};
  }

  /// Replaces composites by their definitions until the plan is complete.
  static LogicalResult replaceComposites(func::FuncOp function, std::string &why) {
    for (;;) {
      PositionPlan plan = planOf(function);
      if (failed(plan.find(why)))
        return failure();
      if (plan.getComposites().empty())
        return success();
      for (Operation *op : plan.getComposites()) {
        OpBuilder builder(op);
        tg::replaceAndTransferFacts(op, cast<DecomposableOpInterface>(op).decompose(builder));
      }
    }
  }
};
} // namespace
