//===- LayoutSearch.cpp - search for the sharding of weights --------------===//

#include "lib/Sharding/LayoutSearch.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Sharding/Projection.h"

using namespace mlir;
using namespace braid;

LayoutSearch::LayoutSearch(func::FuncOp model, LayoutOptions options)
    : model(model), options(std::move(options)), tokens(model) {
  for (Operation &op : model.front())
    addNode(&op);
  llvm::DenseMap<Value, std::set<int64_t>> dims = dimsOfNodes();
  auto add = [&](Value value) { addTensorVariable(value, llvm::to_vector(dims[value])); };
  llvm::for_each(model.getArguments(), add);
  for (const Node &node : nodes)
    llvm::for_each(node.op->getResults(), add);
  for (const Node &node : nodes)
    price(node);
  for (auto &[value, held] : values)
    priceTensor(value);
}

//===----------------------------------------------------------------------===//
// Shardable factors
//===----------------------------------------------------------------------===//

/// Returns the dim that contains a factor; kWhole if no dim does, or if there is no factor.
static int64_t dimOfFactor(const ShardingRule::TensorFactors &tensor, int64_t factor) {
  std::optional<unsigned> dim = ShardingRule::dimOfFactor(tensor, factor);
  return dim ? *dim : kWhole;
}

/// Returns whether other axes already shard a dim along the factor.
bool LayoutSearch::isAlreadySharded(const Node &node, unsigned factor) const {
  for (unsigned tensor = 0; tensor < node.rule.numTensors(); ++tensor)
    if (int64_t dim = dimOfFactor(node.rule.tensor(tensor), factor);
        dim != kWhole && isAlreadySharded(ShardingRule::valueOf(node.op, tensor), dim))
      return true;
  return false;
}

/// Returns whether a factor numbers the parts of a parameter that lie beside each other in files. A rank then holds
/// whole parts, which is no block of the file.
static bool numbersParts(Operation *op, const ShardingRule &rule, unsigned factor) {
  for (unsigned tensor = 0; tensor < rule.numTensors(); ++tensor)
    if (tg::ParamAttr param = tg::parameterOf(ShardingRule::valueOf(op, tensor)))
      if (int64_t dim = dimOfFactor(rule.tensor(tensor), factor); dim != kWhole && dim == tg::fileLayoutOf(param).fused)
        return true;
  return false;
}

/// Returns whether the axis may shard a factor. It must divide the factor into equal blocks of every dim
/// that contains it, and must not split the batch, which is data parallelism. Rows of norms and
/// softmaxes stay whole, for which there is fast code; a loss is worth decomposing to shard its classes.
bool LayoutSearch::mayShard(const Node &node, unsigned number) const {
  const Factor &factor = node.rule.factors[number];
  Tensors tensors{node.rule, {}, isa<DecomposableOpInterface>(node.op)};
  bool isWhole = factor.kind == FactorKind::Whole && numericKindOf(node.op) != NumericKind::Loss;
  if (isWhole || !tensors.canShard(number) || factor.size % options.ranks != 0 || isAlreadySharded(node, number) ||
      numbersParts(node.op, node.rule, number))
    return false;
  TokenDims::Kind kind = tokens.kindsOf(node.op, node.rule)[number];
  if (kind == TokenDims::Kind::Batch || (kind == TokenDims::Kind::Sequence && !options.sequence))
    return false;
  for (unsigned tensor = 0; tensor < node.rule.numTensors(); ++tensor)
    for (const ShardingRule::DimFactors &dim : node.rule.tensor(tensor))
      for (unsigned other : dim) {
        if (other == number)
          break;
        if (llvm::is_contained(dim, number) && node.rule.factors[other].size > 1)
          return false;
      }
  return true;
}

/// Returns whether a factor is the looked-up rows of a table. They stay whole: the table is
/// sharded by its rows, like a head that shares it.
static bool isRowOfTable(const ShardingRule &rule, Operation *op, unsigned factor) {
  return numericKindOf(op) == NumericKind::Embedding && !rule.factors[factor].positional;
}

void LayoutSearch::addNode(Operation *op) {
  std::optional<ShardingRule> rule = shardingRuleOf(op);
  bool isOnTensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
                     llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!rule || !isOnTensors || op->getNumResults() == 0)
    return;
  Node node{op, std::move(*rule), {kWhole}, 0};
  for (unsigned factor = 0; factor < node.rule.factors.size(); ++factor)
    if (mayShard(node, factor) && !isRowOfTable(node.rule, op, factor))
      node.factors.push_back(factor);
  node.variable = prices.addVariable(node.factors.size());
  nodes.push_back(std::move(node));
}

/// Returns whether a tensor is contracted or looked up by index, perhaps after being moved or rounded.
static bool isOfWeights(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    NumericKind kind = numericKindOf(user);
    return kind == NumericKind::Contraction || kind == NumericKind::Embedding ||
           (onlyMovesOrRounds(user) && llvm::any_of(user->getResults(), isOfWeights));
  });
}

/// Returns whether a value is a parameter, perhaps moved or rounded.
static bool isParameter(Value value, func::FuncOp model) {
  if (isa<BlockArgument>(value))
    return tg::parameterOf(value) != nullptr;
  Operation *op = value.getDefiningOp();
  return onlyMovesOrRounds(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isParameter(operand, model); });
}

/// Returns the dims of each value that some op may shard. Excludes the position dims of
/// parameters, such as tables of positions, because activations determine those.
llvm::DenseMap<Value, std::set<int64_t>> LayoutSearch::dimsOfNodes() const {
  llvm::DenseMap<Value, std::set<int64_t>> dims;
  for (const Node &node : nodes) {
    SmallVector<TokenDims::Kind> kinds = tokens.kindsOf(node.op, node.rule);
    for (unsigned tensor = 0; tensor < node.rule.numTensors(); ++tensor)
      for (int64_t factor : ArrayRef(node.factors).drop_front()) {
        Value value = ShardingRule::valueOf(node.op, tensor);
        int64_t dim = dimOfFactor(node.rule.tensor(tensor), factor);
        if (dim != kWhole && (kinds[factor] == TokenDims::Kind::None || !isa<BlockArgument>(value)))
          dims[value].insert(dim);
      }
  }
  return dims;
}

/// Adds a variable for the layouts of a value: any layout in which an op makes or needs it.
void LayoutSearch::addTensorVariable(Value value, ArrayRef<int64_t> dims) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return;
  Held held;
  held.layouts = held.gradientLayouts = {kWhole};
  auto argument = dyn_cast<BlockArgument>(value);
  held.isParameter = isParameter(value, model);
  held.isWeight = held.isParameter && isOfWeights(value);
  held.bytes = bytesOf(TypeRange(type));
  held.layouts.append(dims.begin(), dims.end());
  auto hasGradient = [&](Value operand) {
    auto known = values.find(operand);
    return known != values.end() && known->second.hasGradient;
  };
  held.hasGradient = argument ? held.isParameter : llvm::any_of(value.getDefiningOp()->getOperands(), hasGradient);
  if (held.hasGradient) {
    held.gradientLayouts.append(dims.begin(), dims.end());
    held.gradientLayouts.push_back(kPartial);
  }
  held.variable = prices.addVariable(held.count());
  values.insert({value, std::move(held)});
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Returns what a rank sends on a ring to change a tensor's layout. The gradients of parameters share one
/// collective, so the latency is left out for them.
Cost LayoutSearch::sent(const Held &held, int64_t from, int64_t to) const {
  auto ofSent = [&](int64_t bytes) {
    return Cost{.sentBytes = bytes + (held.isParameter ? 0 : options.latencyBytes), .collectives = 1};
  };
  int64_t others = held.bytes / options.ranks * (options.ranks - 1);
  if (from == to || from == kWhole)
    return to == kPartial && from != to ? Cost::impossible() : Cost();
  if (to == kPartial)
    return Cost::impossible();
  if (from == kPartial)
    return ofSent(to == kWhole ? 2 * others : others);           // all_reduce, reduce_scatter
  return ofSent(to == kWhole ? others : others / options.ranks); // all_gather, all_to_all
}

/// Returns the cost in the forward pass, where parameters keep their layout: gathering them would be ZeRO.
Cost LayoutSearch::moved(const Held &held, int64_t from, int64_t to) const {
  return held.isParameter && from != to && from != kWhole ? Cost::impossible() : sent(held, from, to);
}

Cost LayoutSearch::operandCost(const Node &node, unsigned operand, const Held &held, unsigned value,
                               int64_t factor) const {
  int64_t dim = dimOfFactor(node.rule.operands[operand], factor);
  // If ranks use the same operand to compute different parts, each has a summand of its gradient.
  int64_t gradient = factor != kWhole && dim == kWhole ? kPartial : dim;
  Cost cost = std::min(moved(held, held.layout(value), dim), moved(held, held.secondLayout(value), dim));
  return held.hasGradient ? cost + sent(held, gradient, held.gradientLayout(value)) : cost;
}

Cost LayoutSearch::resultCost(const Node &node, unsigned result, const Held &held, unsigned value,
                              int64_t factor) const {
  int64_t dim = dimOfFactor(node.rule.results[result], factor);
  int64_t made = factor != kWhole && dim == kWhole ? kPartial : dim;
  Cost cost = moved(held, made, held.layout(value));
  return held.hasGradient ? cost + sent(held, held.gradientLayout(value), dim) : cost;
}

void LayoutSearch::priceOperand(const Node &node, unsigned operand) {
  auto known = values.find(node.op->getOperand(operand));
  if (known == values.end())
    return;
  const Held &held = known->second;
  std::vector<Cost> table;
  for (unsigned value = 0; value < held.count(); ++value)
    for (int64_t factor : node.factors)
      table.push_back(operandCost(node, operand, held, value, factor));
  prices.addPrices({held.variable, node.variable}, std::move(table));
}

void LayoutSearch::priceResult(const Node &node, unsigned result) {
  auto known = values.find(node.op->getResult(result));
  if (known == values.end() || known->first.use_empty())
    return;
  const Held &held = known->second;
  std::vector<Cost> table;
  for (int64_t factor : node.factors)
    for (unsigned value = 0; value < held.count(); ++value)
      table.push_back(resultCost(node, result, held, value, factor));
  prices.addPrices({node.variable, held.variable}, std::move(table));
}

/// Returns the extra cost of an op that is decomposed because its lanes are sharded: two
/// reductions over the ranks, and one more in its gradient, each of one number per row.
Cost LayoutSearch::decomposedCost(const Node &node, int64_t factor) const {
  if (factor == kWhole || !node.rule.factors[factor].decomposed || node.rule.factors[factor].kind != FactorKind::Whole)
    return Cost();
  auto type = cast<RankedTensorType>(node.op->getOperand(0).getType());
  Held ofRows;
  ofRows.bytes = type.getNumElements() / node.rule.factors[factor].size * type.getElementTypeBitWidth() / 8;
  Cost one = sent(ofRows, kPartial, kWhole);
  return one + one + one;
}

void LayoutSearch::price(const Node &node) {
  for (unsigned operand = 0; operand < node.op->getNumOperands(); ++operand)
    priceOperand(node, operand);
  for (unsigned result = 0; result < node.op->getNumResults(); ++result)
    priceResult(node, result);
  for (auto [value, factor] : llvm::enumerate(node.factors))
    if (Cost cost = decomposedCost(node, factor); cost != Cost())
      prices.addPrice(node.variable, value, cost);
}

/// Adds the cost of a value by itself. The gradient of a parameter ends in the layout of the parameter.
void LayoutSearch::priceTensor(Value tensorValue) {
  const Held &held = values.find(tensorValue)->second;
  for (unsigned value = 0; value < held.count(); ++value) {
    int64_t bytes = held.layout(value) == kWhole ? held.bytes : held.bytes / options.ranks;
    Cost cost = moved(held, held.layout(value), held.secondLayout(value));
    if (isa<BlockArgument>(tensorValue) && held.isParameter)
      cost = cost + sent(held, held.gradientLayout(value), held.layout(value));
    if (isa<BlockArgument>(tensorValue) && held.isWeight)
      cost = cost + Cost{.weightBytes = bytes};
    else if (!held.isParameter && options.sequence)
      cost = cost + Cost{.activationBytes = bytes};
    prices.addPrice(held.variable, value, cost);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Whether an op of the model reads a value.
static bool isRead(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return !user->hasTrait<OpTrait::IsTerminator>(); });
}

/// Returns the unit of the first parameter that an op reads, perhaps moved or rounded.
StringAttr LayoutSearch::unitOf(const Node &node) const {
  for (Value operand : node.op->getOperands()) {
    auto known = values.find(operand);
    if (known == values.end() || !known->second.isParameter)
      continue;
    while (Operation *producer = operand.getDefiningOp())
      operand = producer->getOperand(0);
    return tg::parameterOf(operand).getUnit();
  }
  return {};
}

/// Adds up the bytes sent by unit. An op without parameters belongs to the last unit that it depends on.
void LayoutSearch::readSent(ArrayRef<unsigned> chosen, LayoutChoice &choice) const {
  llvm::DenseMap<Operation *, StringAttr> units;
  for (const Node &node : nodes) {
    Operation *last = nullptr;
    for (Value operand : node.op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && (!last || last->isBeforeInBlock(producer)))
        last = producer;
    StringAttr own = unitOf(node), before = last ? units.lookup(last) : StringAttr();
    units[node.op] = own ? own : before;
    int64_t factor = node.factors[chosen[node.variable]];
    Cost cost = decomposedCost(node, factor);
    auto add = [&](Value value, unsigned number, auto costOf) {
      auto known = values.find(value);
      if (known != values.end() && !known->second.isParameter && !value.use_empty())
        cost = cost + (this->*costOf)(node, number, known->second, chosen[known->second.variable], factor);
    };
    for (auto [number, operand] : llvm::enumerate(node.op->getOperands()))
      add(operand, number, &LayoutSearch::operandCost);
    for (auto [number, result] : llvm::enumerate(node.op->getResults()))
      add(result, number, &LayoutSearch::resultCost);
    if (int64_t bytes = cost.sentBytes - cost.collectives * options.latencyBytes)
      choice.sent[units[node.op]] += bytes;
  }
}

LayoutChoice LayoutSearch::read(ArrayRef<unsigned> chosen) const {
  LayoutChoice choice;
  choice.cost = prices.costOf(chosen);
  func::FuncOp function = model;
  auto wayOf = [&](Value value) {
    auto known = values.find(value);
    return known == values.end() ? kWhole : known->second.layout(chosen[known->second.variable]);
  };
  for (BlockArgument argument : function.getArguments())
    if (auto known = values.find(argument); known != values.end() && known->second.isParameter) {
      choice.weights[argument] = wayOf(argument);
      if (known->second.isWeight && wayOf(argument) == kWhole)
        choice.undivided.push_back(argument);
    }
  for (const Node &node : nodes) {
    int64_t factor = node.factors[chosen[node.variable]];
    for (auto [operand, factors] : llvm::zip_equal(node.op->getOpOperands(), node.rule.operands)) {
      int64_t dim = dimOfFactor(factors, factor);
      bool isActivation = values.contains(operand.get()) && !isa<BlockArgument>(operand.get());
      if (!isActivation || wayOf(operand.get()) == dim)
        continue;
      choice.needed.push_back({&operand, dim});
      // An op that needs a value in parts must not shard what other ops hold whole.
      if (dim >= 0)
        choice.held[operand.get()] = wayOf(operand.get());
    }
    for (auto [result, factors] : llvm::zip_equal(node.op->getResults(), node.rule.results)) {
      int64_t dim = dimOfFactor(factors, factor);
      // Summands are reduced only if an op reads the sum; results of the model are left as they are.
      if (values.contains(result) && isRead(result) && wayOf(result) != dim)
        choice.held[result] = wayOf(result);
    }
  }
  readSent(chosen, choice);
  return choice;
}

std::optional<LayoutChoice> LayoutSearch::run() {
  std::optional<std::vector<unsigned>> chosen = prices.solve();
  return chosen ? std::optional(read(*chosen)) : std::nullopt;
}
