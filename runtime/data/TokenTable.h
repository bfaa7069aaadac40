//===- TokenTable.h - the text of each token ------------------------------===//
//
// A token file may hold the bytes of each token of the vocabulary, and the token that ends a text
// (docs/Data.md). So sampling from a model needs no tokenizer. Training writes this part of the file beside
// its checkpoints.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOKENTABLE_H
#define BRAID_DATA_TOKENTABLE_H

#include "data/DataFiles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

class TokenTable {
public:
  // Reads the table of a token file; nothing if it has none. Throws Error if the file is not a token file.
  static std::optional<TokenTable> read(const std::string &path);

  int64_t vocabulary() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t endOfText() const { return end; } // -1: none
  // Returns the bytes of a token; U+FFFD for tokens beyond the vocabulary.
  std::string_view textOf(int64_t token) const;

  // Writes a token file without tokens.
  void write(const std::string &path) const;

  bool operator==(const TokenTable &) const = default;

private:
  std::vector<uint32_t> offsets;
  std::string text;
  int64_t end = -1;
};

// Returns the table of all data files; nothing if no file has one. Throws Error if two files have different
// tables.
std::optional<TokenTable> tableOf(const DataFiles &data);

// File name of the table in a checkpoint directory.
inline constexpr const char *kTokenTableName = "tokenizer.tok";

} // namespace braid
#endif // BRAID_DATA_TOKENTABLE_H
