//===- Names.h - lists of names, and which one is meant -------------------===//
#ifndef BRAID_CLI_NAMES_H
#define BRAID_CLI_NAMES_H

#include <span>
#include <string_view>
#include <vector>

namespace braid::cli {

std::vector<std::string_view> split(std::string_view text, char between);

// Whether one of the names, between which there are spaces, is this.
bool isAmong(std::string_view name, std::string_view names);

// The name that `word` is probably a misspelling of; empty for none.
std::string_view nearestTo(std::string_view word, std::span<const std::string_view> names);

} // namespace braid::cli
#endif // BRAID_CLI_NAMES_H
