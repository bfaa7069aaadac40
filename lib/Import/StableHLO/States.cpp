//===- States.cpp - parameters and states of a whole step -----------------===//

#include "lib/Import/StableHLO/States.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;
using namespace mlir;
using namespace braid::stablehlo;

namespace {
/// A pytree of arrays: an argument of the function, or a part of its results with the same first key.
struct Tree {
  std::string root;
  /// Numbers of arguments or results of @main, by the keys of the arrays.
  std::map<std::string, unsigned> leaves;
};

/// Pairs of arguments and results with arrays of the same keys and types.
class StateMatch {
public:
  StateMatch(Program &program, ArrayRef<StateRequest> requests) : program(program), requests(requests) {}

  FailureOr<SmallVector<ResultUse>> run();

private:
  LogicalResult collectStates();
  LogicalResult refuseUnstated();
  void collectResults();
  LogicalResult matchRequested();
  void matchNamed();
  LogicalResult matchOthers();
  void match(const Tree &state, const Tree &result);

  /// Whether a result has an array of the same type for each array of a state.
  bool fits(const Tree &state, const Tree &result) const;
  bool areEqual(const Tree &state, const Tree &result) const {
    return state.leaves.size() == result.leaves.size() && fits(state, result);
  }
  /// Results that fit a state and are not matched yet: those without other arrays, if there are any.
  SmallVector<const Tree *> candidates(const Tree &state) const;
  InFlightDiagnostic emitError(const Tree &state) const {
    MLIRContext *context = program.main.getContext();
    return mlir::emitError(NameLoc::get(StringAttr::get(context, state.root))) << "argument '" << state.root << "' ";
  }
  bool isMatched(const Tree &state) const { return matched.contains(&state); }

  Program &program;
  ArrayRef<StateRequest> requests;
  std::vector<Tree> states, results;
  llvm::DenseSet<const Tree *> matched;
  SmallVector<ResultUse> uses;
};
} // namespace

/// Returns the tree of a root, which is added to `trees` if it is new.
static Tree &treeOf(std::vector<Tree> &trees, StringRef root) {
  auto found = find_if(trees, [&](const Tree &tree) { return tree.root == root; });
  return found == trees.end() ? trees.emplace_back(Tree{root.str(), {}}) : *found;
}

LogicalResult StateMatch::collectStates() {
  auto isRequested = [&](StringRef root) {
    return any_of(requests, [&](const StateRequest &request) { return request.argument == root; });
  };
  for (const Argument &argument : program.arguments)
    if (requests.empty() ? argument.isDonated : isRequested(argument.path.root))
      treeOf(states, argument.path.root).leaves[argument.path.leaf] = argument.value.getArgNumber();
  for (const StateRequest &request : requests) {
    if (any_of(states, [&](const Tree &state) { return state.root == request.argument; }))
      continue;
    SmallVector<StringRef> roots;
    for (const Argument &argument : program.arguments)
      if (!is_contained(roots, argument.path.root))
        roots.push_back(argument.path.root);
    return mlir::emitError(UnknownLoc::get(program.main.getContext()))
           << "--state=" << request.argument << ": the function has no such argument; its arguments are "
           << join(roots, ", ");
  }
  return success();
}

/// Refuses a step whose states nothing states: its parameters would be trained by other gradients than its own.
LogicalResult StateMatch::refuseUnstated() {
  std::vector<Tree> trees;
  for (const Argument &argument : program.arguments)
    treeOf(trees, argument.path.root).leaves[argument.path.leaf] = argument.value.getArgNumber();
  for (const Tree &tree : trees)
    for (const Tree &result : results)
      if (!tree.leaves.begin()->first.empty() && areEqual(tree, result))
        return emitError(tree) << "has the arrays of result " << result.root
                               << "; of a training step, donate the states by donate_argnums, or name them by --state="
                               << tree.root << "; of a function that returns gradients, return the loss alone";
  return success();
}

void StateMatch::collectResults() {
  for (auto [number, path] : enumerate(program.results))
    if (!path.root.empty())
      treeOf(results, path.root).leaves[path.leaf] = number;
}

bool StateMatch::fits(const Tree &state, const Tree &result) const {
  return all_of(state.leaves, [&](const auto &leaf) {
    auto other = result.leaves.find(leaf.first);
    return other != result.leaves.end() &&
           program.main.getArgument(leaf.second).getType() == program.main.getResultTypes()[other->second];
  });
}

SmallVector<const Tree *> StateMatch::candidates(const Tree &state) const {
  SmallVector<const Tree *> exact, larger;
  for (const Tree &result : results)
    if (!isMatched(result) && fits(state, result))
      (areEqual(state, result) ? exact : larger).push_back(&result);
  return exact.empty() ? larger : exact;
}

void StateMatch::match(const Tree &state, const Tree &result) {
  matched.insert(&state);
  matched.insert(&result);
  for (const auto &[leaf, number] : result.leaves) {
    auto argument = state.leaves.find(leaf);
    uses[number].isOfState = true;
    if (argument != state.leaves.end())
      uses[number].argument = argument->second;
  }
}

LogicalResult StateMatch::matchRequested() {
  for (const StateRequest &request : requests) {
    if (request.result.empty())
      continue;
    auto named = [](StringRef root) { return [root](const Tree &tree) { return tree.root == root; }; };
    const Tree &state = *find_if(states, named(request.argument));
    auto result = find_if(results, named(request.result));
    if (result == results.end() || !fits(state, *result))
      return emitError(state) << "is a state by --state, but result " << request.result
                              << (result == results.end() ? " does not exist" : " has arrays of other keys or types");
    if (isMatched(state) || isMatched(*result))
      return emitError(state) << "or result " << request.result << " is in two options --state; leave one out";
    match(state, *result);
  }
  return success();
}

/// A result of a dict or a named tuple has the name of its state.
void StateMatch::matchNamed() {
  for (const Tree &state : states)
    for (const Tree &result : results)
      if (!isMatched(state) && !isMatched(result) && state.root == result.root && fits(state, result))
        match(state, result);
}

/// Lists some arrays of a tree for a message.
static std::string textOf(const Tree &tree, Program &program) {
  std::string text;
  raw_string_ostream os(text);
  for (auto [index, leaf] : enumerate(tree.leaves)) {
    os << (index ? ", " : "");
    if (index == 3)
      return text + "...";
    os << (leaf.first.empty() ? "" : "'" + leaf.first + "' ") << program.main.getArgument(leaf.second).getType();
  }
  return text;
}

/// Matches states whose arrays have the same keys and types in their order. There must be a result for each of them,
/// and no other that fits.
LogicalResult StateMatch::matchOthers() {
  for (const Tree &state : states) {
    if (isMatched(state))
      continue;
    SmallVector<const Tree *> found = candidates(state);
    if (found.empty())
      return emitError(state) << "is a state of the step, but no result is its new value, which has the arrays "
                              << textOf(state, program)
                              << "; return the new value, or name the arguments that are states by --state";
    size_t alike = count_if(states, [&](const Tree &other) {
      return !isMatched(other) && other.leaves.size() == state.leaves.size() && fits(other, *found.front());
    });
    if (found.size() > alike)
      return emitError(state) << "is a state of the step, and result " << found[0]->root << " or " << found[1]->root
                              << " may be its new value; state which one, as in --state=" << state.root << "="
                              << found[0]->root;
    match(state, *found.front());
  }
  return success();
}

FailureOr<SmallVector<ResultUse>> StateMatch::run() {
  uses.resize(program.results.size());
  if (failed(collectStates()))
    return failure();
  collectResults();
  if (states.empty() && failed(refuseUnstated()))
    return failure();
  if (failed(matchRequested()))
    return failure();
  matchNamed();
  if (failed(matchOthers()))
    return failure();
  return uses;
}

FailureOr<SmallVector<ResultUse>> braid::stablehlo::findUpdates(Program &program, ArrayRef<StateRequest> requests) {
  return StateMatch(program, requests).run();
}
