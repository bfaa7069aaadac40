//===- ActionGraphTest.cpp - orders that compute the same -----------------===//
//
// Runs programs in memory in the interpreter in random orders. Buffers share bytes only if assignment makes them share.
// Every order that keeps a graph's edges gives the same results. An order that breaks a single edge, which no path
// implies, gives other results or an error.
//
//===----------------------------------------------------------------------===//

#include "lib/Actions/ActionGraph.h"
#include "braid/InitAll.h"
#include "lib/Actions/ReorderActions.h"
#include "lib/Reference/Compare.h"
#include "lib/Reference/Inputs.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "test/unit/Actions/RandomProgram.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

namespace {

using Edges = std::vector<SmallVector<unsigned, 4>>;
using Edge = std::pair<unsigned, unsigned>;

struct ActionGraphTest : testing::Test {
  ActionGraphTest() {
    static bool registered = (registerAllPasses(), true);
    (void)registered;
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) { return parseSourceString<ModuleOp>(text, &context); }

  void run(ModuleOp module, StringRef pipeline) {
    PassManager manager(&context, ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, manager)) && succeeded(manager.run(module)));
  }

  MLIRContext context;
};

func::FuncOp functionIn(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

Edges edgesOf(const ActionGraph &graph) {
  Edges edges;
  for (unsigned action = 0; action < graph.size(); ++action)
    edges.push_back(graph.predecessors(action));
  return edges;
}

/// Returns a random order in which each action follows its predecessors.
std::vector<unsigned> randomOrder(const Edges &edges, std::mt19937 &random) {
  std::vector<unsigned> order, left;
  std::vector<bool> done(edges.size());
  for (unsigned action = 0; action < edges.size(); ++action)
    left.push_back(action);
  while (!left.empty()) {
    std::vector<unsigned> ready;
    llvm::copy_if(left, std::back_inserter(ready), [&](unsigned action) {
      return llvm::all_of(edges[action], [&](unsigned before) { return done[before]; });
    });
    if (ready.empty())
      return {};
    order.push_back(ready[random() % ready.size()]);
    done[order.back()] = true;
    llvm::erase(left, order.back());
  }
  return order;
}

bool hasPath(const Edges &edges, unsigned from, unsigned to) {
  return from == to || llvm::any_of(edges[to], [&](unsigned before) { return hasPath(edges, from, before); });
}

/// Returns the edges with one of them reversed; nothing if a path implies that edge.
std::optional<Edges> turned(Edges edges, Edge edge) {
  llvm::erase(edges[edge.second], edge.first);
  if (hasPath(edges, edge.first, edge.second))
    return std::nullopt;
  edges[edge.first].push_back(edge.second);
  return edges;
}

/// A planned program whose buffers are always live, each at an offset of its own.
class Planned {
public:
  explicit Planned(ModuleOp module) : module(module) {
    exec::ProgramOp program = *module.getOps<exec::ProgramOp>().begin();
    int64_t end = program.getArenaBytes();
    for (Operation &op : program.getBody().front())
      if (isa<ActionOpInterface>(op))
        actions.push_back(&op);
    for (auto buffer : program.getOps<exec::BufferOp>()) {
      buffer.setOffset(end);
      buffer.setFirst(-1);
      buffer.setLast(actions.size());
      end += llvm::alignTo(buffer.getBytes(), 64);
    }
    program.setArenaBytes(end);
  }

  /// Fails if the interpreter refuses the order.
  reference::Results run(ArrayRef<unsigned> order) {
    for (unsigned number : order)
      actions[number]->moveBefore(actions[number]->getBlock(), actions[number]->getBlock()->end());
    auto program = reference::Program::find(module, "");
    reference::Values values;
    if (failed(program) || reference::makeInputs(*program, {}, values))
      return failure();
    ScopedDiagnosticHandler ignore(module.getContext(), [](Diagnostic &) { return success(); });
    return program->run(values, reference::Arithmetic::Native);
  }

  SmallVector<Operation *> actions;

private:
  ModuleOp module;
};

bool areSame(const reference::Results &a, const reference::Results &b) {
  return succeeded(a) && succeeded(b) && llvm::all_of(llvm::zip_equal(*a, *b), [](auto pair) {
           return reference::difference(std::get<0>(pair), std::get<1>(pair), {0, 0}).empty();
         });
}

std::vector<unsigned> ownOrder(size_t size) {
  std::vector<unsigned> order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST_F(ActionGraphTest, EveryOrderThatItAllowsComputesTheSame) {
  std::mt19937 random(1);
  unsigned planted = 0, overwriting = 0;
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::string text = RandomProgram(seed).write(/*numOps=*/18, /*withConcats=*/true);
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << text;
    run(*module, "func.func(exec-form-kernels)");
    OwningOpRef<ModuleOp> inMemory = module->clone();
    run(*inMemory, "exec-plan-memory");
    func::FuncOp function = functionIn(*module);
    FailureOr<Places> places = assignBuffers(function, /*rowAlignment=*/0);
    ASSERT_TRUE(succeeded(places));
    ActionGraph graph(function.getBody().front());
    graph.addMemoryOrder(*places);
    Edges edges = edgesOf(graph);

    Planned program(*inMemory);
    ASSERT_EQ(program.actions.size(), graph.size());
    reference::Results expected = program.run(ownOrder(graph.size()));
    ASSERT_TRUE(succeeded(expected));
    for (unsigned order = 0; order < 6; ++order)
      EXPECT_TRUE(areSame(expected, program.run(randomOrder(edges, random)))) << text;
    for (unsigned action = 0; action < graph.size(); ++action)
      for (unsigned before : edges[action]) {
        std::optional<Edges> wrong = graph.ordered(action) != before ? turned(edges, {before, action}) : std::nullopt;
        if (!wrong)
          continue;
        ++planted;
        overwriting += llvm::is_contained(graph.overwrites(action), before);
        // An order may by chance read an equal copy instead of the value.
        EXPECT_TRUE(llvm::any_of(llvm::seq(4),
                                 [&](int) { return !areSame(expected, program.run(randomOrder(*wrong, random))); }))
            << "without " << before << " before " << action << ":\n"
            << text;
      }
  }
  EXPECT_GT(planted, 300u);
  EXPECT_GT(overwriting, 40u);
}

/// Returns how many new values of parameters assignment copies over the old ones, for an order of actions.
unsigned copiesOfUpdates(ModuleOp module, ArrayRef<unsigned> order) {
  OwningOpRef<ModuleOp> copy = module.clone();
  func::FuncOp function = functionIn(*copy);
  ActionGraph graph(function.getBody().front());
  reorderActions(function.getBody().front(),
                 llvm::map_to_vector(order, [&](unsigned number) { return graph.actions()[number]; }));
  FailureOr<Places> places = assignBuffers(function, /*rowAlignment=*/0);
  return succeeded(places)
             ? llvm::count_if(places->actions,
                              [&](ActionOpInterface action) {
                                return !graph.contains(action) &&
                                       places->storages[places->places.at(action->getResult(0)).storage].kind ==
                                           Storage::Kind::Persistent;
                              })
             : ~0u;
}

TEST_F(ActionGraphTest, UpdatesOverwriteInEveryOrderThatItAllows) {
  std::mt19937 random(2);
  unsigned planted = 0;
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::string text = RandomProgram(seed).write(/*numOps=*/12, /*withConcats=*/false);
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << text;
    run(*module, "func.func(exec-form-kernels)");
    func::FuncOp function = functionIn(*module);
    ActionGraph graph(function.getBody().front());
    graph.addUpdates(function);
    Edges edges = edgesOf(graph);
    unsigned copies = copiesOfUpdates(*module, ownOrder(graph.size()));
    for (unsigned order = 0; order < 6; ++order)
      EXPECT_EQ(copiesOfUpdates(*module, randomOrder(edges, random)), copies) << text;
    for (unsigned action = 0; action < graph.size(); ++action)
      for (unsigned before : graph.overwrites(action))
        if (std::optional<Edges> wrong = turned(edges, {before, action});
            wrong && !llvm::is_contained(graph.reads(action), before)) {
          ++planted;
          EXPECT_GT(copiesOfUpdates(*module, randomOrder(*wrong, random)), copies)
              << "without " << before << " before " << action << ":\n"
              << text;
        }
  }
  EXPECT_GT(planted, 30u);
}

constexpr const char *kHandWritten = R"(
comm.mesh @mesh [dp = 2]
func.func @f(%p: tensor<4x4xf32> {tg.param = #tg.param<"p", #tg.init<ones>>})
    -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> {tg.updates = "p"})
    attributes {comm.program = #comm.program<@mesh>} {
  %t = exec.view %p offset 0 strides [1, 4] : tensor<4x4xf32> -> tensor<4x4xf32>
  %a = exec.matmul "mk,kn->mn"(%p, %t) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %ticket = comm.start {
    %sum = comm.all_reduce sum %a over @mesh {dp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  } : !comm.ticket<tensor<4x4xf32>>
  %half = exec.view %a offset 8 strides [4, 1] : tensor<4x4xf32> -> tensor<2x4xf32>
  %c = exec.concat %half, %half dim 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %b = exec.matmul "mk,kn->mn"(%c, %c) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %r = comm.wait %ticket : !comm.ticket<tensor<4x4xf32>> -> tensor<4x4xf32>
  %q = comm.all_reduce sum %b over @mesh {dp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = exec.matmul "mk,kn->mn"(%q, %r) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %half, %b, %n : tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
})";

/// Returns the edges as text: `3r5` if 5 reads a result of 3.
std::string textOf(const ActionGraph &graph) {
  std::string text;
  auto add = [&](char kind, unsigned before, unsigned action) {
    text += (text.empty() ? "" : " ") + std::to_string(before) + kind + std::to_string(action);
  };
  for (unsigned action = 0; action < graph.size(); ++action) {
    for (unsigned before : graph.reads(action))
      add('r', before, action);
    SmallVector<unsigned> overwrites(graph.overwrites(action));
    llvm::sort(overwrites);
    for (unsigned before : overwrites)
      add('w', before, action);
    if (std::optional<unsigned> before = graph.ordered(action))
      add('o', *before, action);
  }
  return text;
}

TEST_F(ActionGraphTest, LooksThroughViewsConcatsAndRegions) {
  OwningOpRef<ModuleOp> module = parse(kHandWritten);
  ASSERT_TRUE(module);
  func::FuncOp function = functionIn(*module);
  // 0 matmul, 1 start, 2 matmul, 3 wait, 4 all_reduce, 5 matmul
  ActionGraph graph(function.getBody().front());
  graph.addUpdates(function);
  EXPECT_EQ(textOf(graph), "0r1 0r2 1r3 1o3 2r4 3o4 3r5 4r5 0w5");
  std::string readers;
  graph.forEachReader(graph.actions()[0]->getResult(0), [&](Operation *reader) {
    readers += graph.contains(reader) ? std::to_string(graph.numberOf(reader)) : "t";
  });
  llvm::sort(readers);
  EXPECT_EQ(readers, "12222t");
}

TEST_F(ActionGraphTest, RulesSayWhatIsAnActionAndOrdered) {
  OwningOpRef<ModuleOp> module = parse(kHandWritten);
  ASSERT_TRUE(module);
  func::FuncOp function = functionIn(*module);
  // 0 matmul, 1 start, 2 concat, 3 matmul, 4 wait, 5 all_reduce, 6 matmul
  EXPECT_EQ(textOf(ActionGraph(function.getBody().front(), ActionRules::forFusion())),
            "0r1 0r2 2r3 1r4 1o4 3r5 4o5 4r6 5r6");
  // 0 view, 1 matmul, 2 start, 3 view, 4 concat, 5 matmul, 6 wait, 7 all_reduce without effects, 8 matmul
  ActionGraph forTensors(function.getBody().front(), ActionRules::forTensors());
  forTensors.addUpdates(function);
  EXPECT_EQ(textOf(forTensors), "0r1 1r2 1r3 3r4 4r5 2r6 2o6 5r7 6r8 7r8 0w8 1w8");
}

} // namespace
