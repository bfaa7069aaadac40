//===- MinimumCost.h - cheapest values of many variables --------*- C++ -*-===//
//
// Finds values of variables with the smallest total cost. Each variable has few values, and each
// table gives the costs of a few variables together. Variables are eliminated one by one (Dechter
// 1999, "Bucket elimination"): the tables of a variable become one table over its neighbors, with
// the best value for each of their combinations. This is exact. It takes linear time in the
// number of variables if few are neighbors at a time, as in a network of layers.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_MINIMUMCOST_H
#define BRAID_LIB_SHARDING_MINIMUMCOST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// Cost of a choice of layouts. Members are compared in their order.
struct Cost {
  int64_t weightBytes = 0;     ///< Bytes of weights on a rank.
  int64_t activationBytes = 0; ///< Bytes of activations on a rank.
  int64_t sentBytes = 0;       ///< Bytes that a rank sends in a step, latencies included.
  int64_t collectives = 0;     ///< Collectives in a step.

  static Cost impossible() { return {.weightBytes = kImpossible}; }
  Cost operator+(const Cost &other) const {
    // Sums of impossible costs must not overflow.
    return {std::min(weightBytes + other.weightBytes, kImpossible), activationBytes + other.activationBytes,
            sentBytes + other.sentBytes, collectives + other.collectives};
  }
  auto operator<=>(const Cost &) const = default;
  bool isPossible() const { return weightBytes < kImpossible; }

private:
  static constexpr int64_t kImpossible = int64_t(1) << 61;
};

class MinimumCost {
public:
  /// Adds a variable with the values 0 ... values - 1; returns its number.
  unsigned addVariable(unsigned values);
  /// Adds a table of costs of different variables; the last variable changes fastest.
  void addPrices(llvm::ArrayRef<unsigned> variables, std::vector<Cost> prices);
  /// Adds a cost to one value of a variable.
  void addPrice(unsigned variable, unsigned value, Cost price);

  /// Returns a value for each variable with the smallest total. Ties go to the smaller value of
  /// a variable that is eliminated later. No value if a table would exceed `maxTableSize` entries, or
  /// if every choice is impossible.
  std::optional<std::vector<unsigned>> solve(size_t maxTableSize = 1 << 20);
  /// Returns the total cost of values for all variables.
  Cost costOf(llvm::ArrayRef<unsigned> values) const;
  unsigned numVariables() const { return domains.size(); }
  unsigned numValues(unsigned variable) const { return domains[variable]; }

private:
  struct Table {
    llvm::SmallVector<unsigned, 4> variables;
    std::vector<Cost> prices;
  };
  struct Choice {
    unsigned variable;
    llvm::SmallVector<unsigned, 4> neighbors;
    std::vector<unsigned> best; ///< Best value for each combination of the neighbors' values.
  };
  size_t sizeOf(llvm::ArrayRef<unsigned> variables) const;
  size_t indexIn(llvm::ArrayRef<unsigned> variables, llvm::ArrayRef<unsigned> values) const;

  std::vector<unsigned> domains;
  std::vector<Table> tables;
  friend class Elimination;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_MINIMUMCOST_H
