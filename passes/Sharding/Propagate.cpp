//===- Propagate.cpp - propagate annotations to all values ----------------===//

#include "dialects/TG/Facts.h"
#include "lib/Sharding/Propagation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#define GEN_PASS_DEF_PROPAGATEPASS
#include "passes/Sharding/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Node = PropagationProblem::Node;

namespace {
struct Propagate : braid::impl::PropagatePassBase<Propagate> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    FailureOr<std::optional<GlobalMesh>> global = meshOfGlobal(function);
    if (succeeded(global) && !*global)
      return markAllAnalysesPreserved();
    if (failed(global) || failed(run(function, (*global)->symbol, (*global)->mesh)))
      signalPassFailure();
  }

private:
  /// A decomposition may contain composites; the depth of their nesting bounds the rounds.
  static LogicalResult run(func::FuncOp function, FlatSymbolRefAttr symbol, const Mesh &mesh) {
    while (true) {
      FailureOr<PropagationProblem> problem = readPropagation(function, symbol, mesh);
      if (failed(problem))
        return failure();
      propagate(*problem);
      if (decompose(*problem))
        continue;
      if (failed(checkConflicts(*problem)))
        return failure();
      write(*problem);
      return success();
    }
  }

  static bool decompose(const PropagationProblem &problem);
  static void write(const PropagationProblem &problem);
  static void writeSignature(const PropagationProblem &problem);
};
} // namespace

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// Returns the axes over which only the decomposition of an op can be sharded.
static AxesAttr decomposedAxes(const PropagationProblem &problem, const Node &node) {
  SmallVector<StringAttr> names;
  bool isCandidate = node.op && node.decomposable &&
                     llvm::any_of(node.rule.factors, [](const Factor &factor) { return factor.decomposed; });
  auto add = [&](ArrayRef<ProjectedAxis> axes) {
    for (ProjectedAxis entry : axes)
      names.push_back(problem.mesh.getNames()[entry.axis]);
  };
  if (isCandidate) {
    Resolution resolution = problem.resolveConflicts(node);
    for (auto [factor, axes] : llvm::zip_equal(node.rule.factors, resolution.factors))
      if (factor.decomposed)
        add(axes);
    add(resolution.flat);
  }
  return AxesAttr::get(problem.symbol.getContext(), names);
}

bool Propagate::decompose(const PropagationProblem &problem) {
  SmallVector<std::pair<DecomposableOpInterface, AxesAttr>> ops;
  for (const Node &node : problem.nodes)
    if (AxesAttr axes = decomposedAxes(problem, node); !axes.empty())
      ops.push_back({cast<DecomposableOpInterface>(node.op), axes});
  for (auto [op, axes] : ops) {
    op->emitRemark() << op->getName() << " is decomposed, because it is sharded over " << axes.str()
                     << ", which only its decomposition supports";
    OpBuilder builder(op);
    tg::replaceAndTransferFacts(op, op.decompose(builder));
  }
  return !ops.empty();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns the axes of an op's factors, if some of its tensors disagree.
static ShardingAttr conflictingFactors(const PropagationProblem &problem, const Node &node) {
  Resolution resolution = problem.resolveConflicts(node);
  if (!resolution.hadConflict)
    return {};
  FactorAxes axes = factorAxes(resolution, problem.mesh, problem.symbol.getContext());
  return ShardingAttr::replicated(problem.symbol, axes.factors.size()).withDims(axes.factors).withFlat(axes.flat);
}

void Propagate::write(const PropagationProblem &problem) {
  writeSignature(problem);
  func::FuncOp function = problem.function;
  for (Operation &op : function.getBody().front()) {
    op.removeAttr(CommDialect::kFactors);
    if (requestOf(&op))
      op.setAttr("sharding", problem.shardingOf(op.getResult(0)));
    else if (op.getNumResults() && llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      op.setAttr(CommDialect::kShardings,
                 ArrayAttr::get(op.getContext(), llvm::map_to_vector(op.getResults(), [&](Value result) -> Attribute {
                                  return problem.shardingOf(result);
                                })));
  }
  for (const Node &node : problem.nodes)
    if (!node.loose)
      if (ShardingAttr factors = conflictingFactors(problem, node))
        node.op->setAttr(CommDialect::kFactors, factors);
}

static DictionaryAttr withSharding(MLIRContext *context, DictionaryAttr attributes, ShardingAttr sharding) {
  NamedAttrList list(attributes);
  list.set(CommDialect::kSharding, sharding);
  return list.getDictionary(context);
}

void Propagate::writeSignature(const PropagationProblem &problem) {
  func::FuncOp function = problem.function;
  MLIRContext *context = function.getContext();
  SmallVector<DictionaryAttr> arguments, results;
  function.getAllArgAttrs(arguments);
  function.getAllResultAttrs(results);
  // Results come first, because their shardings are read from the function's attributes.
  for (auto [index, attributes] : llvm::enumerate(results))
    if (isa<RankedTensorType>(function.getResultTypes()[index]))
      attributes = withSharding(context, attributes, problem.shardingOfResult(index));
  for (auto [argument, attributes] : llvm::zip_equal(function.getArguments(), arguments))
    if (isa<RankedTensorType>(argument.getType()))
      attributes = withSharding(context, attributes, problem.shardingOf(argument));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(results);
}
