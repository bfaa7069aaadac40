//===- Divisors.cpp - numbers of ranks that divide a size -----------------===//

#include "dialects/Interfaces/Divisors.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

SmallVector<int64_t, 2> braid::nearestDivisors(ArrayRef<int64_t> sizes, int64_t ranks) {
  int64_t below = 1, above = INT64_MAX;
  auto see = [&](int64_t divisor) {
    if (divisor < ranks)
      below = std::max(below, divisor);
    else if (divisor > ranks)
      above = std::min(above, divisor);
  };
  for (int64_t size : sizes)
    for (int64_t divisor = 1; divisor <= size / divisor; ++divisor)
      if (size % divisor == 0) {
        see(divisor);
        see(size / divisor);
      }
  SmallVector<int64_t, 2> found;
  if (below > 1)
    found.push_back(below);
  if (above < INT64_MAX)
    found.push_back(above);
  return found;
}

std::string braid::joinNumbers(ArrayRef<int64_t> numbers, StringRef word) {
  return join(map_range(numbers, [](int64_t number) { return std::to_string(number); }), (" " + word + " ").str());
}

std::string braid::nearestDivisibleSizes(int64_t size, int64_t ranks) {
  int64_t multiple = size / ranks * ranks;
  SmallVector<int64_t, 2> sizes{multiple, multiple + ranks};
  if (multiple == 0)
    sizes.erase(sizes.begin());
  std::string text = std::to_string(ranks) + " divides " + joinNumbers(sizes, "and");
  if (SmallVector<int64_t, 2> divisors = nearestDivisors(size, ranks); !divisors.empty())
    text += ", and " + joinNumbers(divisors, "and") + (divisors.size() > 1 ? " divide " : " divides ") +
            std::to_string(size);
  return text;
}
