//===- MinimumCost.cpp - cheapest values of many variables ----------------===//

#include "lib/Sharding/MinimumCost.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;
using namespace braid;

unsigned MinimumCost::addVariable(unsigned values) {
  domains.push_back(values);
  return domains.size() - 1;
}

void MinimumCost::addPrices(ArrayRef<unsigned> variables, std::vector<Cost> prices) {
  assert(prices.size() == sizeOf(variables) && "a price for all values");
  tables.push_back({SmallVector<unsigned, 4>(variables), std::move(prices)});
}

void MinimumCost::addPrice(unsigned variable, unsigned value, Cost price) {
  std::vector<Cost> prices(domains[variable]);
  prices[value] = price;
  addPrices(variable, std::move(prices));
}

size_t MinimumCost::sizeOf(ArrayRef<unsigned> variables) const {
  size_t size = 1;
  for (unsigned variable : variables)
    size *= domains[variable];
  return size;
}

/// Returns the table index of these variables; `values` has the values of all variables.
size_t MinimumCost::indexIn(ArrayRef<unsigned> variables, ArrayRef<unsigned> values) const {
  size_t index = 0;
  for (unsigned variable : variables)
    index = index * domains[variable] + values[variable];
  return index;
}

Cost MinimumCost::costOf(ArrayRef<unsigned> values) const {
  Cost sum;
  for (const Table &table : tables)
    sum = sum + table.prices[indexIn(table.variables, values)];
  return sum;
}

namespace braid {
/// The remaining tables while variables are eliminated.
class Elimination {
public:
  Elimination(const MinimumCost &problem, size_t maxTableSize)
      : problem(problem), maxTableSize(maxTableSize), tables(problem.tables), tablesOf(problem.domains.size()),
        values(problem.domains.size()) {
    for (auto [number, table] : enumerate(tables))
      for (unsigned variable : table.variables)
        tablesOf[variable].insert(number);
    for (unsigned variable = 0; variable < tablesOf.size(); ++variable)
      queue.insert({weightOf(variable), variable});
  }

  std::optional<std::vector<unsigned>> run();

private:
  SmallVector<unsigned, 4> neighborsOf(unsigned variable) const;
  size_t weightOf(unsigned variable) const { return problem.sizeOf(neighborsOf(variable)); }
  void eliminate(unsigned variable);
  /// Sets `values` of the variables to those of table index `index`.
  void decode(ArrayRef<unsigned> variables, size_t index);

  const MinimumCost &problem;
  size_t maxTableSize;
  std::vector<MinimumCost::Table> tables;
  std::vector<std::set<unsigned>> tablesOf;
  std::set<std::pair<size_t, unsigned>> queue;
  std::vector<MinimumCost::Choice> choices;
  std::vector<unsigned> values;
};
} // namespace braid

SmallVector<unsigned, 4> Elimination::neighborsOf(unsigned variable) const {
  std::set<unsigned> neighbors;
  for (unsigned table : tablesOf[variable])
    neighbors.insert(tables[table].variables.begin(), tables[table].variables.end());
  neighbors.erase(variable);
  return SmallVector<unsigned, 4>(neighbors.begin(), neighbors.end());
}

void Elimination::decode(ArrayRef<unsigned> variables, size_t index) {
  for (unsigned variable : reverse(variables)) {
    values[variable] = index % problem.domains[variable];
    index /= problem.domains[variable];
  }
}

void Elimination::eliminate(unsigned variable) {
  SmallVector<unsigned, 4> neighbors = neighborsOf(variable);
  size_t size = problem.sizeOf(neighbors);
  MinimumCost::Table joined{neighbors, std::vector<Cost>(size)};
  MinimumCost::Choice choice{variable, neighbors, std::vector<unsigned>(size)};
  for (size_t index = 0; index < size; ++index) {
    decode(neighbors, index);
    std::optional<Cost> best;
    for (unsigned value = 0; value < problem.domains[variable]; ++value) {
      values[variable] = value;
      Cost sum;
      for (unsigned table : tablesOf[variable])
        sum = sum + tables[table].prices[problem.indexIn(tables[table].variables, values)];
      if (best && *best <= sum)
        continue;
      best = sum;
      choice.best[index] = value;
    }
    joined.prices[index] = *best;
  }
  for (unsigned table : tablesOf[variable])
    for (unsigned other : tables[table].variables)
      if (other != variable)
        tablesOf[other].erase(table);
  for (unsigned neighbor : neighbors)
    tablesOf[neighbor].insert(tables.size());
  tables.push_back(std::move(joined));
  choices.push_back(std::move(choice));
}

std::optional<std::vector<unsigned>> Elimination::run() {
  while (!queue.empty()) {
    auto [weight, variable] = *queue.begin();
    queue.erase(queue.begin());
    if (size_t now = weightOf(variable); now != weight) { // the weight has changed since
      queue.insert({now, variable});
      continue;
    }
    if (weight > maxTableSize)
      return std::nullopt;
    eliminate(variable);
  }
  Cost total;
  for (const MinimumCost::Table &table : tables)
    if (table.variables.empty())
      total = total + table.prices.front();
  if (!total.isPossible())
    return std::nullopt;
  for (const MinimumCost::Choice &choice : reverse(choices))
    values[choice.variable] = choice.best[problem.indexIn(choice.neighbors, values)];
  return values;
}

std::optional<std::vector<unsigned>> MinimumCost::solve(size_t maxTableSize) {
  return Elimination(*this, maxTableSize).run();
}
