//===- PropagationProblem.cpp - a function's annotations and ops ----------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/Roles.h"
#include "lib/Sharding/Propagation.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Node = PropagationProblem::Node;
using Tensor = PropagationProblem::Tensor;

namespace {
class Reader {
public:
  Reader(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh)
      : problem(function, symbol, mesh), returned(function.getBody().front().getTerminator()), signature(function) {}

  FailureOr<PropagationProblem> read();

private:
  void addTensor(Value value, bool follows = false);
  void addOp(Operation *op);
  void addRequest(Operation *op, ShardingAttr request);
  void addNode(Node node, ValueRange operands, ValueRange results);

  unsigned annotate(std::string name, Location loc, ShardingAttr sharding, bool yields = false);
  /// Fixes the sharding of a value to an annotation, unless it has another one already.
  void fix(Value value, unsigned annotation);

  void keepRowsWhole(BlockArgument input);
  void keepWhole(BlockArgument argument);
  void readArguments();
  LogicalResult readResults();
  LogicalResult readResult(unsigned index, ShardingAttr stated);
  unsigned annotateResult(unsigned index, ShardingAttr stated);
  void tie(BlockArgument argument, Value value);

  PropagationProblem problem;
  Operation *returned;
  tg::ProgramSignature signature;
  llvm::DenseMap<Value, unsigned> fixedBy;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tensors and nodes
//===----------------------------------------------------------------------===//

static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

void Reader::addTensor(Value value, bool follows) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  problem.numbers[value] = problem.tensors.size();
  Tensor &tensor = problem.tensors.emplace_back();
  tensor.projection.dims.resize(type.getRank());
  tensor.openFrom.assign(type.getRank() + 1, PropagationProblem::kOpen);
  if (type.getRank() == 0)
    tensor.openFrom.back() = PropagationProblem::kNever;
  tensor.follows = follows;
}

void Reader::addNode(Node node, ValueRange operands, ValueRange results) {
  for (ValueRange values : {operands, results})
    for (Value value : values)
      node.tensors.push_back(problem.numbers.lookup(value));
  for (unsigned tensor : node.tensors)
    if (auto &nodes = problem.tensors[tensor].nodes; nodes.empty() || nodes.back() != problem.nodes.size())
      nodes.push_back(problem.nodes.size());
  problem.nodes.push_back(std::move(node));
}

void Reader::addOp(Operation *op) {
  for (Value result : op->getResults())
    addTensor(result, /*follows=*/op->getNumOperands() == 0);
  if (ShardingAttr request = requestOf(op))
    return addRequest(op, request);
  bool isOnTensors = llvm::all_of(op->getOperandTypes(), isTensor) && llvm::all_of(op->getResultTypes(), isTensor);
  if (op == returned || !isOnTensors || op->getNumResults() == 0)
    return;
  if (std::optional<ShardingRule> rule = shardingRuleOf(op))
    addNode({op, std::move(*rule), {}, isa<DecomposableOpInterface>(op)}, op->getOperands(), op->getResults());
}

/// Adds a request, which fixes the sharding of its result and suggests it for its
/// operand. The two may differ. Axes of the operand extend open dims of the result.
void Reader::addRequest(Operation *op, ShardingAttr request) {
  std::string name = op->getName().getStringRef().str();
  fix(op->getResult(0), annotate(name, op->getLoc(), request, yieldsToOthers(op)));
  unsigned suggestion = annotate(name, op->getLoc(), request.withPartial(AxesAttr::get(op->getContext())), true);
  problem.seeds.push_back({problem.numbers.lookup(op->getOperand(0)), suggestion, /*suggested=*/true});
  Node node{op, elementwiseRule(op), {}};
  node.loose = true;
  node.firstExtended = 1;
  addNode(std::move(node), op->getOperands(), op->getResults());
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

unsigned Reader::annotate(std::string name, Location loc, ShardingAttr sharding, bool yields) {
  problem.annotations.push_back({std::move(name), loc, withoutUnitAxes(sharding, problem.mesh), yields});
  return problem.annotations.size() - 1;
}

void Reader::fix(Value value, unsigned annotation) {
  unsigned number = problem.numbers.lookup(value);
  Tensor &tensor = problem.tensors[number];
  if (tensor.exact)
    return;
  const ShardingAttr &sharding = tensor.exact = problem.annotations[annotation].sharding;
  fixedBy[value] = annotation;
  tensor.follows = false;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
    tensor.openFrom[dim] = axes.getOpen() ? problem.priorityOf(annotation) : PropagationProblem::kNever;
  tensor.openFrom.back() = PropagationProblem::kNever;
  problem.seeds.push_back({number, annotation});
}

/// Keeps the rows of an input whole: ranks may divide the rows among them, but read parts
/// of a row only if an annotation says so.
void Reader::keepRowsWhole(BlockArgument input) {
  if (!isTensor(input.getType()))
    return;
  auto &openFrom = problem.tensors[problem.numbers.lookup(input)].openFrom;
  std::fill(openFrom.begin() + (openFrom.size() > 1), openFrom.end(), PropagationProblem::kNever);
}

/// Keeps an argument whole: a cache, because programs with different shardings share it, or an input without rows.
void Reader::keepWhole(BlockArgument argument) {
  auto &openFrom = problem.tensors[problem.numbers.lookup(argument)].openFrom;
  std::fill(openFrom.begin(), openFrom.end(), PropagationProblem::kNever);
}

void Reader::readArguments() {
  func::FuncOp function = problem.function;
  for (BlockArgument argument : function.getArguments()) {
    tg::ArgumentAttrs attributes(argument);
    addTensor(argument);
    if (ShardingAttr sharding = shardingOf(argument)) {
      unsigned annotation = annotate(nameOfArgument(function, argument.getArgNumber()), argument.getLoc(), sharding);
      problem.annotations[annotation].isOfBatch = tg::isOfBatch(attributes.role);
      fix(argument, annotation);
    } else if (attributes.role && attributes.role.getValue() == tg::Role::Shared) {
      keepWhole(argument);
    } else if (attributes.input) {
      keepRowsWhole(argument);
    } else if (attributes.state && attributes.state.isCache()) {
      keepWhole(argument);
    }
  }
}

/// Annotates a result. The annotation of a gradient repeats its argument's and must not conflict with it, so it yields.
unsigned Reader::annotateResult(unsigned index, ShardingAttr stated) {
  bool isGradient = signature.result(index).gradientOf != nullptr;
  return annotate(nameOfResult(problem.function, index), returned->getLoc(), stated, /*yields=*/isGradient);
}

/// Ties the new value of an argument to the argument's sharding.
void Reader::tie(BlockArgument argument, Value value) {
  if (argument == value)
    return;
  Node node{nullptr, {}, {}};
  auto &dims = node.rule.operands.emplace_back();
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    dims.push_back({node.rule.add(size)});
  node.rule.results.push_back(dims);
  node.rule.flat = true;
  node.loose = true;
  addNode(std::move(node), ValueRange(argument), ValueRange(value));
}

LogicalResult Reader::readResult(unsigned index, ShardingAttr stated) {
  func::FuncOp function = problem.function;
  Value value = returned->getOperand(index);
  BlockArgument argument = problem.updated.emplace_back(signature.updatedArgument(index));
  if (!argument) {
    if (stated)
      fix(value, annotateResult(index, stated));
    return success();
  }
  ShardingAttr ofArgument = shardingOf(argument);
  if (stated && ofArgument && stated.canonical() != ofArgument.canonical())
    return function.emitError() << nameOfResult(function, index) << " is " << stated.canonical() << ", but "
                                << nameOfArgument(function, argument.getArgNumber())
                                << ", which it updates in place, is " << ofArgument.canonical()
                                << "; give both one sharding";
  if (stated && !ofArgument)
    fix(argument, annotateResult(index, stated));
  if (auto entry = fixedBy.find(argument); entry != fixedBy.end())
    fix(value, entry->second);
  else
    tie(argument, value);
  return success();
}

LogicalResult Reader::readResults() {
  func::FuncOp function = problem.function;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto stated = function.getResultAttrOfType<ShardingAttr>(i, CommDialect::kSharding);
    if (!isTensor(function.getResultTypes()[i]))
      problem.updated.emplace_back();
    else if (failed(readResult(i, stated)))
      return failure();
  }
  return success();
}

FailureOr<PropagationProblem> Reader::read() {
  readArguments();
  for (Operation &op : problem.function.getBody().front())
    addOp(&op);
  if (failed(readResults()))
    return failure();
  return std::move(problem);
}

FailureOr<PropagationProblem> braid::readPropagation(func::FuncOp function, FlatSymbolRefAttr symbol,
                                                     const Mesh &mesh) {
  return Reader(function, symbol, mesh).read();
}
