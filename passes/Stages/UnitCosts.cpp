//===- UnitCosts.cpp - costs of units in a stage --------------------------===//

#include "passes/Stages/UnitCosts.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "passes/Base/Signature.h"
#include "passes/Recompute/ReplayPrices.h"
#include "passes/Stages/StageMap.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;
using namespace braid;

namespace {
/// Costs of one unit.
struct Unit {
  double seconds = 0, kept = 0, working = 0; ///< `kept` and `working` in bytes.
  llvm::SetVector<StringRef> parameters;     ///< Owner names.
};
} // namespace

/// Returns the bytes of each parameter, including all states that belong to it in any program.
static llvm::StringMap<int64_t> bytesOfParameters(ModuleOp module) {
  llvm::StringMap<int64_t> bytes;
  llvm::StringSet<> seen;
  auto count = [&](StringRef name, StringRef owner, Value value) {
    if (seen.insert(name).second)
      bytes[owner] += bytesOf(value.getType());
  };
  for (auto program : module.getOps<func::FuncOp>())
    for (BlockArgument argument : program.getArguments()) {
      if (tg::ParamAttr parameter = parameterOf(argument))
        count(parameter.getName(), parameter.getOf(), argument);
      else if (tg::StateAttr state = stateOf(argument); state && state.getOf())
        count(state.getName(), state.getOf(), argument);
    }
  return bytes;
}

/// Returns the unit number of each op.
static DenseMap<Operation *, unsigned> numbersOf(func::FuncOp program, ArrayRef<StringAttr> units) {
  DenseMap<StringAttr, unsigned> numbers;
  for (auto [number, unit] : llvm::enumerate(units))
    numbers[unit] = number;
  DenseMap<Operation *, unsigned> ofOps;
  bool hasBegun = false;
  for (Operation &op : program.front().without_terminator()) {
    auto unit = numbers.find(tg::unitOf(tg::factsOf(&op)));
    hasBegun |= unit != numbers.end();
    ofOps[&op] = unit != numbers.end() ? unit->second : hasBegun ? units.size() - 1 : 0;
  }
  return ofOps;
}

/// Returns the map of one stage with all units, to find out which ops read which values.
static StageMap mapOfOneStage(func::FuncOp program, ArrayRef<StringAttr> units) {
  UnitStages oneStage{1, {}};
  for (StringAttr unit : units)
    oneStage.ofUnit[unit] = 0;
  return *StageMap::of(program, oneStage);
}

namespace {
/// Measures the cost of each unit in one pass over a program.
class Meter {
public:
  Meter(func::FuncOp program, ArrayRef<StringAttr> units)
      : program(program), map(mapOfOneStage(program, units)), numbers(numbersOf(program, units)), units(units.size()) {}

  std::vector<Unit> run(const Machine &machine);

private:
  Unit &unitOf(Operation *op) { return units[numbers.lookup(op)]; }
  void findKept();
  void findWorking();

  func::FuncOp program;
  StageMap map;
  DenseMap<Operation *, unsigned> numbers;
  std::vector<Unit> units;
  DenseSet<Value> kept;
};
} // namespace

/// Adds up the forward values that backward reads.
void Meter::findKept() {
  for (Operation &op : program.front().without_terminator())
    for (Value read : map.isBackward(&op) ? map.stagedReads(&op) : SmallVector<Value>()) {
      Operation *maker = read.getDefiningOp();
      if (!map.isBackward(maker) && kept.insert(read).second)
        unitOf(maker).kept += bytesOf(read.getType());
    }
}

/// Finds the largest sum of other live values while each unit computes. Leaves out values that fuse into the kernel
/// that reads them.
void Meter::findWorking() {
  DenseMap<Value, Operation *> lastReader;
  for (Operation &op : program.front().without_terminator())
    for (Value read : map.stagedReads(&op))
      lastReader[read] = &op;
  DenseMap<Operation *, double> ending;
  double live = 0;
  for (Operation &op : program.front().without_terminator()) {
    for (Value result : op.getResults()) {
      Operation *last = lastReader.lookup(result);
      if (!last || kept.contains(result) || (fusesIntoReader(&op) && result.hasOneUse()))
        continue;
      live += bytesOf(result.getType());
      ending[last] += bytesOf(result.getType());
    }
    unitOf(&op).working = std::max(unitOf(&op).working, live);
    live -= ending.lookup(&op);
  }
}

std::vector<Unit> Meter::run(const Machine &machine) {
  OpSeconds seconds(machine);
  for (Operation &op : program.front().without_terminator()) {
    unitOf(&op).seconds += seconds.of(&op);
    if (!map.stageOf(&op))
      continue;
    for (BlockArgument argument : map.argumentsReadBy(valuesReadBy(&op)))
      if (tg::ParamAttr parameter = parameterOf(argument))
        unitOf(&op).parameters.insert(parameter.getOf());
  }
  findKept();
  findWorking();
  return std::move(units);
}

UnitCosts::UnitCosts(func::FuncOp program, ArrayRef<StringAttr> units, const Machine &machine)
    : secondsBefore(1, 0), keptBefore(1, 0), fixedBytes(units.size()) {
  std::vector<Unit> measured = Meter(program, units).run(machine);
  llvm::StringMap<int64_t> bytes = bytesOfParameters(program->getParentOfType<ModuleOp>());
  for (const Unit &unit : measured) {
    secondsBefore.push_back(secondsBefore.back() + unit.seconds);
    keptBefore.push_back(keptBefore.back() + unit.kept);
  }
  for (size_t begin = 0; begin < units.size(); ++begin) {
    llvm::StringSet<> seen;
    double persistent = 0, working = 0;
    for (const Unit &unit : llvm::ArrayRef(measured).drop_front(begin)) {
      for (StringRef parameter : unit.parameters)
        persistent += seen.insert(parameter).second ? bytes.lookup(parameter) : 0;
      working = std::max(working, unit.working);
      fixedBytes[begin].push_back(persistent + working);
    }
  }
}
