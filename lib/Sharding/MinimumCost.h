//===- MinimumCost.h - the cheapest choice for many variables ---*- C++ -*-===//
//
// Variables with few values each, and tables that price the values of some of them together:
// which values have the smallest sum?  Variables are eliminated one by one (Dechter 1999,
// "Bucket elimination"): the tables that price a variable become one table of its neighbors, with
// the best value for each of theirs.  That is exact, and takes time that is linear in the number
// of variables where few of them are neighbors at a time, as those of a network of layers are.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_MINIMUMCOST_H
#define BRAID_LIB_SHARDING_MINIMUMCOST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// What a choice costs, the most important first.
struct Cost {
  std::array<int64_t, 4> parts{};

  static Cost impossible() { return {{kImpossible}}; }
  Cost operator+(const Cost &other) const {
    Cost sum;
    for (size_t i = 0; i < parts.size(); ++i)
      sum.parts[i] = parts[i] + other.parts[i];
    // Sums of what is impossible stay below the limits of the type.
    sum.parts[0] = std::min(sum.parts[0], kImpossible);
    return sum;
  }
  auto operator<=>(const Cost &) const = default;
  bool isPossible() const { return parts[0] < kImpossible; }

private:
  static constexpr int64_t kImpossible = int64_t(1) << 61;
};

class MinimumCost {
public:
  /// A variable with the values 0 ... values - 1; returns its number.
  unsigned addVariable(unsigned values);
  /// Adds prices for the values of different variables, the last of which changes fastest.
  void addPrices(llvm::ArrayRef<unsigned> variables, std::vector<Cost> prices);
  /// Of one variable.
  void addPrice(unsigned variable, unsigned value, Cost price);

  /// A value for each variable, of the smallest total; of equal ones the smaller value of a
  /// variable that is eliminated later.  None where a table would have more than `most` prices,
  /// or everything is impossible.
  std::optional<std::vector<unsigned>> solve(size_t most = 1 << 20);
  /// That of values for all variables.
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
    std::vector<unsigned> best; ///< For the values of the neighbors.
  };
  size_t sizeOf(llvm::ArrayRef<unsigned> variables) const;
  size_t indexIn(llvm::ArrayRef<unsigned> variables, llvm::ArrayRef<unsigned> values) const;

  std::vector<unsigned> domains;
  std::vector<Table> tables;
  friend class Elimination;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_MINIMUMCOST_H
