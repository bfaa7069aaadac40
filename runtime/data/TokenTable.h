//===- TokenTable.h - the text of each token ------------------------------===//
//
// A token file may keep the bytes that each of its tokens stands for and say which token
// ends a text (docs/Data.md), so that who samples from a model needs no tokenizer.  Training
// leaves this part of the file beside its checkpoints.
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
  // That of a token file; none where it has none.  Throws Error for what is no token file.
  static std::optional<TokenTable> read(const std::string &path);

  int64_t vocabulary() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t endOfText() const { return end; } // -1: none
  // Of tokens that a model has beyond the vocabulary, U+FFFD.
  std::string_view textOf(int64_t token) const;

  // A token file without tokens.
  void write(const std::string &path) const;

  bool operator==(const TokenTable &) const = default;

private:
  std::vector<uint32_t> offsets;
  std::string text;
  int64_t end = -1;
};

// That of all data; none where no file has one.  Throws Error where two files have different ones.
std::optional<TokenTable> tableOf(const DataFiles &data);

// Where training leaves it in a directory of checkpoints.
inline constexpr const char *kTokenTableName = "tokenizer.tok";

} // namespace braid
#endif // BRAID_DATA_TOKENTABLE_H
