//===- Propagation.cpp - the fixpoint, and its conflicts ------------------===//

#include "lib/Sharding/Propagation.h"
#include "llvm/ADT/BitVector.h"
#include <deque>
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Node = PropagationProblem::Node;
using Tensor = PropagationProblem::Tensor;

int64_t PropagationProblem::priorityOf(unsigned annotation) const {
  // Annotations that yield come after all others of their priority, one by one.
  const Annotation &entry = annotations[annotation];
  int64_t priority = std::min<int64_t>(entry.sharding.getPriority(), std::numeric_limits<int32_t>::max());
  return (priority << 31) + (entry.yields ? annotation + 1 : 0);
}

bool PropagationProblem::areOfBatch(unsigned annotation, unsigned other) const {
  return annotations[annotation].isOfBatch && annotations[other].isOfBatch;
}

Resolution PropagationProblem::resolveConflicts(const Node &node) const {
  SmallVector<const TensorProjection *, 4> projections;
  for (unsigned tensor : node.tensors)
    projections.push_back(tensors[tensor].follows ? nullptr : &tensors[tensor].projection);
  return braid::resolveConflicts(
      {node.rule, projections, node.decomposable}, mesh,
      [&](unsigned, ProjectedAxis entry) { return priorityOf(entry.source); },
      [&](unsigned source, unsigned other) { return source != other && !areOfBatch(source, other); });
}

//===----------------------------------------------------------------------===//
// The fixpoint
//===----------------------------------------------------------------------===//

namespace {
class Propagator {
public:
  explicit Propagator(PropagationProblem &problem) : problem(problem), waiting(problem.nodes.size()) {}

  void run();

private:
  void seed(const PropagationProblem::Seed &seed);
  void visit(unsigned node);
  void extend(unsigned tensor, const TensorProjection &wanted);
  bool extendList(const Tensor &tensor, AxisProjection &list, const AxisProjection &wanted);
  void enqueue(unsigned tensor);

  PropagationProblem &problem;
  std::deque<unsigned> worklist;
  BitVector waiting; ///< Nodes in the worklist.
  int64_t level = 0;
};
} // namespace

void Propagator::enqueue(unsigned tensor) {
  for (unsigned node : problem.tensors[tensor].nodes)
    if (!waiting.test(node)) {
      waiting.set(node);
      worklist.push_back(node);
    }
}

bool Propagator::extendList(const Tensor &tensor, AxisProjection &list, const AxisProjection &wanted) {
  if (wanted.size() <= list.size() || !std::equal(list.begin(), list.end(), wanted.begin(),
                                                  [](ProjectedAxis a, ProjectedAxis b) { return a.axis == b.axis; }))
    return false;
  bool changed = false;
  for (ProjectedAxis entry : ArrayRef(wanted).drop_front(list.size())) {
    bool taken = tensor.projection.uses(entry.axis) ||
                 (tensor.exact && tensor.exact.getPartial().contains(problem.mesh.getNames()[entry.axis]));
    if (taken)
      return changed;
    list.push_back(entry);
    changed = true;
  }
  return changed;
}

void Propagator::extend(unsigned number, const TensorProjection &wanted) {
  Tensor &tensor = problem.tensors[number];
  bool changed = false;
  for (auto [dim, list] : llvm::enumerate(wanted.dims))
    if (level >= tensor.openFrom[dim])
      changed |= extendList(tensor, tensor.projection.dims[dim], list);
  if (level >= tensor.openFrom.back())
    changed |= extendList(tensor, tensor.projection.flat, wanted.flat);
  if (changed)
    enqueue(number);
}

void Propagator::visit(unsigned number) {
  const Node &node = problem.nodes[number];
  Resolution resolution = problem.resolveConflicts(node);
  Tensors tensors{node.rule, {}, node.decomposable};
  for (unsigned i = node.firstExtended; i < node.tensors.size(); ++i)
    extend(node.tensors[i], projectionOnto(tensors, i, resolution));
}

void Propagator::seed(const PropagationProblem::Seed &seed) {
  const Annotation &annotation = problem.annotations[seed.annotation];
  TensorProjection projection = project(annotation.sharding, problem.mesh, seed.annotation);
  if (seed.suggested)
    return extend(seed.tensor, projection);
  problem.tensors[seed.tensor].projection = std::move(projection);
  enqueue(seed.tensor);
}

void Propagator::run() {
  std::set<int64_t> levels;
  for (const PropagationProblem::Seed &entry : problem.seeds)
    levels.insert(problem.priorityOf(entry.annotation));
  std::multimap<int64_t, const PropagationProblem::Seed *> order;
  for (const PropagationProblem::Seed &entry : problem.seeds)
    order.emplace(problem.priorityOf(entry.annotation), &entry);
  for (int64_t next : levels) {
    level = next;
    auto [begin, end] = order.equal_range(level);
    for (auto entry = begin; entry != end; ++entry)
      seed(*entry->second);
    while (!worklist.empty()) {
      unsigned node = worklist.front();
      worklist.pop_front();
      waiting.reset(node);
      visit(node);
    }
  }
}

void braid::propagate(PropagationProblem &problem) { Propagator(problem).run(); }

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

ShardingAttr PropagationProblem::shardingOf(Value value) const {
  const Tensor &tensor = tensors[numbers.lookup(value)];
  MLIRContext *context = symbol.getContext();
  SmallVector<AxesAttr> dims;
  for (const AxisProjection &list : tensor.projection.dims)
    dims.push_back(axesOf(list, mesh, context));
  ShardingAttr found = ShardingAttr::replicated(symbol, dims.size())
                           .withDims(dims)
                           .withFlat(axesOf(tensor.projection.flat, mesh, context));
  return tensor.exact ? found.withPartial(tensor.exact.getPartial(), tensor.exact.getReduction()) : found;
}

ShardingAttr PropagationProblem::shardingOfResult(unsigned index) const {
  func::FuncOp op = function;
  if (auto stated = op.getResultAttrOfType<ShardingAttr>(index, CommDialect::kSharding))
    return withoutUnitAxes(stated, mesh).canonical();
  if (updated[index])
    return shardingOf(updated[index]);
  Value value = op.getBody().front().getTerminator()->getOperand(index);
  return shardingOf(value).withPartial(AxesAttr::get(symbol.getContext()));
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// Returns the place of a candidate: `dim 0 of operand #1`.
static std::string placeOf(const Node &node, const Candidate &candidate) {
  size_t operands = node.rule.operands.size();
  bool isOperand = candidate.tensor < operands;
  std::string tensor = (isOperand ? "operand #" : "result #") +
                       std::to_string(isOperand ? candidate.tensor : candidate.tensor - operands);
  if (candidate.factor == node.rule.factors.size())
    return "the flat order of " + tensor;
  const auto &dims = isOperand ? node.rule.operands[candidate.tensor] : node.rule.results[candidate.tensor - operands];
  for (auto [index, dim] : llvm::enumerate(dims))
    if (llvm::is_contained(dim, candidate.factor))
      return "dim " + std::to_string(index) + " of " + tensor;
  llvm_unreachable("a tensor proposes axes for its own factors");
}

LogicalResult braid::checkConflicts(const PropagationProblem &problem) {
  for (const Node &node : problem.nodes) {
    if (node.loose)
      continue;
    std::optional<std::pair<Candidate, Candidate>> conflict = problem.resolveConflicts(node).conflict;
    if (!conflict)
      continue;
    auto [first, second] = *conflict;
    const Annotation &a = problem.annotations[first.projected.source],
                     &b = problem.annotations[second.projected.source];
    auto axis = [&](const Candidate &candidate) {
      return problem.mesh.getNames()[candidate.projected.axis].getValue();
    };
    InFlightDiagnostic diagnostic = node.op->emitOpError()
                                    << "has conflicting shardings: " << a.name << " asks for {" << axis(first)
                                    << "} on " << placeOf(node, first) << ", but " << b.name << " asks for {"
                                    << axis(second) << "} on " << placeOf(node, second)
                                    << "; give one of them a larger priority, or put a comm.constrain between";
    diagnostic.attachNote(a.loc) << a.name << " is " << a.sharding;
    diagnostic.attachNote(b.loc) << b.name << " is " << b.sharding;
    return diagnostic;
  }
  return success();
}
