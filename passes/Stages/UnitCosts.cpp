//===- UnitCosts.cpp - what units cost the stage that has them ------------===//

#include "passes/Stages/UnitCosts.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "passes/Graph/Signature.h"
#include "passes/Recompute/ReplayPrices.h"
#include "passes/Stages/StageMap.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;
using namespace braid;

namespace {
/// Of one unit.
struct Unit {
  double seconds = 0, kept = 0, working = 0;
  llvm::SetVector<StringRef> parameters; ///< By owner.
};
} // namespace

/// Of each parameter, with all that belongs to it in any program.
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

/// The number of the unit of each op.
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

/// As if all were one stage, which says what reads what.
static StageMap mapOfOneStage(func::FuncOp program, ArrayRef<StringAttr> units) {
  UnitStages together{1, {}};
  for (StringAttr unit : units)
    together.ofUnit[unit] = 0;
  return *StageMap::of(program, together);
}

static std::vector<Unit> measure(func::FuncOp program, ArrayRef<StringAttr> units, const TargetInfo &target) {
  DenseMap<Operation *, unsigned> numbers = numbersOf(program, units);
  StageMap map = mapOfOneStage(program, units);
  OpSeconds seconds(target);
  std::vector<Unit> measured(units.size());
  DenseSet<Value> kept;
  for (Operation &op : program.front().without_terminator()) {
    measured[numbers[&op]].seconds += seconds.of(&op);
    for (Value read : map.stagedReads(&op)) {
      Operation *maker = read.getDefiningOp();
      if (map.isBackward(&op) && !map.isBackward(maker) && kept.insert(read).second)
        measured[numbers[maker]].kept += bytesOf(read.getType());
    }
  }
  for (Operation &op : program.front().without_terminator()) {
    if (!map.stageOf(&op))
      continue;
    Unit &unit = measured[numbers[&op]];
    double working = 0;
    SmallVector<Value> touched = map.stagedReads(&op);
    llvm::append_range(touched, op.getResults());
    for (Value value : touched)
      working += kept.contains(value) ? 0 : bytesOf(value.getType());
    unit.working = std::max(unit.working, working);
    for (BlockArgument argument : map.argumentsReadBy(valuesReadBy(&op)))
      if (tg::ParamAttr parameter = parameterOf(argument))
        unit.parameters.insert(parameter.getOf());
  }
  return measured;
}

UnitCosts::UnitCosts(func::FuncOp program, ArrayRef<StringAttr> units, const TargetInfo &target)
    : secondsBefore(1, 0), keptBefore(1, 0), fixedBytes(units.size()) {
  std::vector<Unit> measured = measure(program, units, target);
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
