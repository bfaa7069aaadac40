//===- BalanceStages.cpp - stages of equal time that fit in memory --------===//
//
// Four criteria in turn select how units are cut into ranges: no stage beyond the memory limit, the least time of the
// slowest stage, the least memory of the fullest stage, and equal times.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Size.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Signature.h"
#include "passes/Recompute/ReplayPrices.h"
#include "passes/Stages/StageMap.h"
#include "passes/Stages/UnitStages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <functional>
#include <limits>
#include <vector>

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Costs of units
//===----------------------------------------------------------------------===//

namespace {
/// Predicted costs of each range of units [begin, end), before stages are cut. An op without a unit counts with the
/// first unit if it precedes all units in forward, else with the last unit.
class UnitCosts {
public:
  /// Measures `program`, which runs one microbatch, with `units` in forward order.
  UnitCosts(func::FuncOp program, ArrayRef<StringAttr> units, const Machine &machine);

  /// Returns the seconds of a microbatch, forward and backward.
  double seconds(unsigned begin, unsigned end) const { return secondsBefore[end] - secondsBefore[begin]; }
  /// Returns bytes without library workspaces. They consist of parameters, gradients and optimizer state, each once;
  /// the forward values kept for backward of `held` microbatches; and the other values live while a unit computes.
  double bytes(unsigned begin, unsigned end, unsigned held) const {
    return fixedBytes[begin][end - begin - 1] + held * (keptBefore[end] - keptBefore[begin]);
  }

private:
  std::vector<double> secondsBefore, keptBefore;
  /// `fixedBytes[i][j]`: bytes of units [i, i + j + 1) that do not depend on `held`.
  std::vector<std::vector<double>> fixedBytes;
};

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
      Operation *producer = read.getDefiningOp();
      if (!map.isBackward(producer) && kept.insert(read).second)
        unitOf(producer).kept += bytesOf(read.getType());
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
    for (const Unit &unit : ArrayRef(measured).drop_front(begin)) {
      for (StringRef parameter : unit.parameters)
        persistent += seen.insert(parameter).second ? bytes.lookup(parameter) : 0;
      working = std::max(working, unit.working);
      fixedBytes[begin].push_back(persistent + working);
    }
  }
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

namespace {
/// Returns the cost of a stage with the units [begin, end).
using Cost = std::function<double(unsigned stage, unsigned begin, unsigned end)>;

/// The partitions of units into stages of one or more units, restricted by bounds.
class Cuts {
public:
  Cuts(unsigned numUnits, unsigned numStages) : numUnits(numUnits), numStages(numStages) {}

  /// Returns the least possible cost of the most expensive stage.
  double minLargestStage(const Cost &cost) const {
    return solve(cost, [](double before, double own) { return std::max(before, own); }).back().back().total;
  }
  /// Keeps the partitions in which no stage costs more than `maximum`, with a tolerance for rounding.
  void allow(const Cost &cost, double maximum) { bounds.push_back({cost, maximum * (1 + 1e-9)}); }
  void minimizeLargest(const Cost &cost) { allow(cost, minLargestStage(cost)); }
  /// Returns the first unit of each stage, for the partition with the least sum of costs.
  SmallVector<unsigned> minSumPartition(const Cost &cost) const;

private:
  struct Best {
    double total = std::numeric_limits<double>::infinity();
    unsigned begin = 0; ///< First unit of the last stage.
  };
  /// Returns the best partitions by number of stages and number of units. Takes O(stages * units^2).
  std::vector<std::vector<Best>> solve(const Cost &cost, llvm::function_ref<double(double, double)> combine) const;
  bool isAllowed(unsigned stage, unsigned begin, unsigned end) const {
    return llvm::all_of(bounds, [&](const auto &bound) { return bound.first(stage, begin, end) <= bound.second; });
  }

  unsigned numUnits, numStages;
  std::vector<std::pair<Cost, double>> bounds;
};
} // namespace

std::vector<std::vector<Cuts::Best>> Cuts::solve(const Cost &cost,
                                                 llvm::function_ref<double(double, double)> combine) const {
  std::vector<std::vector<Best>> best(numStages + 1, std::vector<Best>(numUnits + 1));
  best[0][0].total = 0;
  for (unsigned stages = 1; stages <= numStages; ++stages)
    for (unsigned end = stages; end <= numUnits; ++end)
      for (unsigned begin = end; begin-- > stages - 1;) {
        double before = best[stages - 1][begin].total;
        if (before == std::numeric_limits<double>::infinity() || !isAllowed(stages - 1, begin, end))
          continue;
        double total = combine(before, cost(stages - 1, begin, end));
        if (total < best[stages][end].total)
          best[stages][end] = {total, begin};
      }
  return best;
}

SmallVector<unsigned> Cuts::minSumPartition(const Cost &cost) const {
  std::vector<std::vector<Best>> best = solve(cost, [](double before, double own) { return before + own; });
  SmallVector<unsigned> begins(numStages);
  for (unsigned stages = numStages, end = numUnits; stages > 0; --stages)
    end = begins[stages - 1] = best[stages][end].begin;
  return begins;
}

static LogicalResult checkNumber(func::FuncOp program, ArrayRef<StringAttr> units, unsigned numStages) {
  if (units.size() >= numStages)
    return success();
  return program.emitError() << "has " << units.size() << (units.size() == 1 ? " unit that is" : " units that are")
                             << " not at both ends ("
                             << llvm::join(llvm::map_range(units, [](StringAttr unit) { return unit.getValue(); }),
                                           ", ")
                             << "), but is cut into " << numStages
                             << " stages, each of which needs one; reduce pp in --mesh times --chunks to at most "
                             << units.size() << ", or use a model with more layers";
}

/// Restricts stages to `limit` bytes, or to the least bytes that are possible. A remark gives the cost in time.
static void limitMemory(func::FuncOp program, Cuts &cuts, const Cost &bytes, const Cost &seconds, double limit) {
  double fastest = cuts.minLargestStage(seconds), minBytes = cuts.minLargestStage(bytes);
  cuts.allow(bytes, std::max(minBytes, limit));
  InFlightDiagnostic remark = program.emitRemark();
  if (minBytes > limit)
    remark << "in every cut some stage is predicted to hold at least " << formatSize(minBytes)
           << ", beyond its part of the memory limit, " << formatSize(limit) << "; ";
  remark << llvm::formatv("the slowest stage takes {0:f3} ms per microbatch, or {1:f3} without a limit",
                          cuts.minLargestStage(seconds) * 1e3, fastest * 1e3)
                .str();
}

FailureOr<UnitStages> braid::balanceStages(func::FuncOp program, ArrayRef<unsigned> held, const Machine &machine,
                                           std::optional<int64_t> limit) {
  SmallVector<StringAttr> units = unitsInOrder(program);
  if (failed(checkNumber(program, units, held.size())))
    return failure();
  UnitCosts costs(program, units, machine);
  Cost seconds = [&](unsigned, unsigned begin, unsigned end) { return costs.seconds(begin, end); };
  Cost bytes = [&](unsigned stage, unsigned begin, unsigned end) { return costs.bytes(begin, end, held[stage]); };
  Cost squares = [&](unsigned, unsigned begin, unsigned end) {
    return costs.seconds(begin, end) * costs.seconds(begin, end);
  };
  Cuts cuts(units.size(), held.size());
  if (limit)
    limitMemory(program, cuts, bytes, seconds, *limit);
  cuts.minimizeLargest(seconds);
  cuts.minimizeLargest(bytes);
  SmallVector<unsigned> begins = cuts.minSumPartition(squares);
  UnitStages stages{unsigned(held.size()), {}};
  for (auto [number, unit] : llvm::enumerate(units))
    stages.ofUnit[unit] = llvm::upper_bound(begins, number) - begins.begin() - 1;
  return stages;
}
