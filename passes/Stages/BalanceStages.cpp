//===- BalanceStages.cpp - stages of equal time that fit in memory --------===//
//
// Four criteria in turn select how units are cut into ranges: no stage beyond the memory limit, the least time of the
// slowest stage, the least memory of the fullest stage, and equal times.
//
//===----------------------------------------------------------------------===//

#include "lib/Memory/Size.h"
#include "passes/Stages/UnitCosts.h"
#include "passes/Stages/UnitStages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <functional>
#include <limits>

using namespace mlir;
using namespace braid;

namespace {
/// Returns the cost of a stage with the units [begin, end).
using Cost = std::function<double(unsigned stage, unsigned begin, unsigned end)>;

/// The partitions of units into stages of one or more units, restricted by bounds.
class Cuts {
public:
  Cuts(unsigned numUnits, unsigned numStages) : numUnits(numUnits), numStages(numStages) {}

  /// Returns the least possible cost of the most expensive stage.
  double leastLargest(const Cost &cost) const {
    return solve(cost, [](double before, double own) { return std::max(before, own); }).back().back().total;
  }
  /// Keeps the partitions in which no stage costs more than `most`, with a tolerance for rounding.
  void allow(const Cost &cost, double most) { bounds.push_back({cost, most * (1 + 1e-9)}); }
  void minimizeLargest(const Cost &cost) { allow(cost, leastLargest(cost)); }
  /// Returns the first unit of each stage, for the partition with the least sum of costs.
  SmallVector<unsigned> leastSum(const Cost &cost) const;

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

SmallVector<unsigned> Cuts::leastSum(const Cost &cost) const {
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
  double fastest = cuts.leastLargest(seconds), least = cuts.leastLargest(bytes);
  cuts.allow(bytes, std::max(least, limit));
  InFlightDiagnostic remark = program.emitRemark();
  if (least > limit)
    remark << "in every cut some stage is predicted to hold at least " << formatSize(least)
           << ", beyond its part of the memory limit, " << formatSize(limit) << "; ";
  remark << llvm::formatv("the slowest stage takes {0:f3} ms per microbatch, or {1:f3} without a limit",
                          cuts.leastLargest(seconds) * 1e3, fastest * 1e3)
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
  SmallVector<unsigned> begins = cuts.leastSum(squares);
  UnitStages stages{unsigned(held.size()), {}};
  for (auto [number, unit] : llvm::enumerate(units))
    stages.ofUnit[unit] = llvm::upper_bound(begins, number) - begins.begin() - 1;
  return stages;
}
