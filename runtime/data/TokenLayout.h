//===- TokenLayout.h - the layout of a token file -------------------------===//
//
// docs/Data.md describes the formats. All sizes and offsets in a file are checked here against the file's
// size, so readers need no such checks. Readers check the values of ids and bytes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOKENLAYOUT_H
#define BRAID_DATA_TOKENLAYOUT_H

#include "base/File.h"
#include "data/DataFiles.h"

#include <cstdint>

namespace braid {

// A range of a file; absent if it begins at 0, where the header is.
struct Section {
  uint64_t begin = 0;
  int64_t count = 0;

  explicit operator bool() const { return begin != 0; }
};

struct TokenLayout {
  // A token per byte; ids in a format of another program; a token file of our own, which may have all sections.
  enum class Kind { Text, Ids, Tokens };

  Kind kind = Kind::Text;
  int64_t tokens = 0;
  int bytesPerToken = 1;
  uint64_t idsBegin = 0;
  int64_t vocabulary = 0; // 0: not in the file
  int64_t endOfText = -1; // id of the token; -1: none
  Section mask;           // one bit per token: whether it counts as a target
  Section documents;      // one u64 per document: its first token
  Section tableOffsets;   // one u32 per token of the vocabulary, plus one
  Section tableBytes;     // texts of the tokens
};

// Throws Error if the file is shorter than its header claims, or is a safetensors file.
TokenLayout layoutOf(const File &file, DataFormat format);

// Returns "a token file" or "a text file", for messages.
const char *kindOf(const File &file);
// Whether the file begins like a safetensors file; the rest may be damaged.
bool looksLikeSafetensors(const File &file);

uint64_t readLittleEndian(const unsigned char *bytes, int count);

} // namespace braid
#endif // BRAID_DATA_TOKENLAYOUT_H
