//===- Names.cpp - lists of names, and the nearest name -------------------===//

#include "cli/Names.h"

#include <algorithm>

using namespace braid::cli;

// Returns the edit distance: the number of insertions, deletions, replacements and swaps of neighbours that
// turn `a` into `b`.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      bool differs = a[i - 1] != b[j - 1];
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

std::vector<std::string_view> braid::cli::split(std::string_view text, char between) {
  std::vector<std::string_view> items;
  for (size_t start = 0, end; start <= text.size(); start = end + 1) {
    end = std::min(text.find(between, start), text.size());
    items.push_back(text.substr(start, end - start));
  }
  return items;
}

bool braid::cli::isAmong(std::string_view name, std::string_view names) {
  const std::vector<std::string_view> all = split(names, ' ');
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::string_view braid::cli::nearestTo(std::string_view word, std::span<const std::string_view> names) {
  auto farther = [&](std::string_view a, std::string_view b) { return distance(word, a) < distance(word, b); };
  auto nearest = std::min_element(names.begin(), names.end(), farther);
  const bool isNear = nearest != names.end() && distance(word, *nearest) <= std::max<size_t>(1, word.size() / 3);
  return isNear ? *nearest : std::string_view();
}
