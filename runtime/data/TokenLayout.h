//===- TokenLayout.h - what is where in a file of tokens ------------------===//
//
// docs/Data.md describes the formats.  Sizes and places that a file claims are checked
// against its size here, so whoever reads them needs no check; what the ids and the bytes
// are is checked by who reads these.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOKENLAYOUT_H
#define BRAID_DATA_TOKENLAYOUT_H

#include "base/File.h"
#include "data/DataFiles.h"

#include <cstdint>

namespace braid {

// A stretch of a file; none where it begins at 0, which is the header's place.
struct Section {
  uint64_t begin = 0;
  int64_t count = 0;

  explicit operator bool() const { return begin != 0; }
};

struct TokenLayout {
  enum class Kind { Text, Tokens, NanoGpt, LlmC };

  Kind kind = Kind::Text;
  int64_t tokens = 0;
  int bytesPerToken = 1;
  uint64_t idsBegin = 0;
  int64_t vocabulary = 0; // 0: the file does not say
  int64_t endOfText = -1; // the token; -1: none
  Section mask;           // a bit for each token: whether it counts as a target
  Section documents;      // u64 each: the token that a document begins with
  Section tableOffsets;   // u32 each, one more than the vocabulary
  Section tableBytes;     // of the texts of tokens
};

// Throws Error for a file that claims what it does not have, and for a safetensors file.
TokenLayout layoutOf(const File &file, DataFormat format);

// "a token file", "a text file"; for messages.
const char *kindOf(const File &file);
// Whether it begins as one; the rest may be damaged.
bool looksLikeSafetensors(const File &file);

uint64_t readLittleEndian(const unsigned char *bytes, int count);

} // namespace braid
#endif // BRAID_DATA_TOKENLAYOUT_H
