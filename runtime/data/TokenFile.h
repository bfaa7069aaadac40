//===- TokenFile.h - text and token files on disk -------------------------===//
//
// A sequence of tokens: a text file with one token per byte, or one of the formats in docs/Data.md. Windows
// are read with pread into a reused buffer: a mapped file would grow the resident size page by page.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOKENFILE_H
#define BRAID_DATA_TOKENFILE_H

#include "base/File.h"
#include "data/TokenLayout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

class TokenFile {
public:
  // `vocab` is the model's vocabulary size. Throws Error if the file cannot be the model's data.
  TokenFile(const std::string &path, int64_t vocab, DataFormat format = DataFormat::Auto);

  const std::string &path() const { return file.path(); }
  int64_t count() const { return layout.tokens; }
  // Vocabulary size of the file's tokens; 0 if the file does not have it.
  int64_t vocabulary() const { return layout.vocabulary; }
  bool isText() const { return layout.kind == TokenLayout::Kind::Text; }

  // Reads tokens [first, first + n) into `out`. Throws Error for an id outside the vocabulary.
  void read(int64_t first, int64_t n, int32_t *out);

  // `isMasked` returns whether some tokens do not count as targets. `mask` replaces such targets among
  // [first, first + n), stored at `targets`, by `ignored`.
  bool isMasked() const { return static_cast<bool>(layout.mask); }
  void mask(int64_t first, int64_t n, int32_t ignored, int32_t *targets);

  // Returns the first token of each document, ascending; empty if the file does not have them.
  std::vector<int64_t> documents() const;

private:
  void checkText() const;
  void checkIds();
  int64_t smallestVocabulary() const;
  [[noreturn]] void failForId(int64_t token, uint64_t id) const;

  File file;
  DataFormat format;
  int64_t vocab;
  TokenLayout layout;
  std::vector<unsigned char> buffer;
};

} // namespace braid
#endif // BRAID_DATA_TOKENFILE_H
