//===- Names.h - lists of names, and the nearest name ---------------------===//
#ifndef BRAID_CLI_NAMES_H
#define BRAID_CLI_NAMES_H

#include <span>
#include <string_view>
#include <vector>

namespace braid::cli {

std::vector<std::string_view> split(std::string_view text, char between);

// Whether `name` is one of the space-separated names.
bool isAmong(std::string_view name, std::string_view names);

// Returns the name that `word` probably misspells; empty if there is none.
std::string_view nearestTo(std::string_view word, std::span<const std::string_view> names);

} // namespace braid::cli
#endif // BRAID_CLI_NAMES_H
