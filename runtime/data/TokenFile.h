//===- TokenFile.h - text and token ids on disk ---------------------------===//
//
// A sequence of tokens: a text file, in which each byte is one, or one of the formats that
// docs/Data.md describes.  Windows are read with pread into a buffer that is reused: a mapped
// file would grow the resident size page by page.
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
  // `vocab` is the model's; throws Error for a file that cannot be its data.
  TokenFile(const std::string &path, int64_t vocab, DataFormat format = DataFormat::Auto);

  const std::string &path() const { return file.path(); }
  int64_t count() const { return layout.tokens; }
  // That its tokens are of; 0 where the file does not say.
  int64_t vocabulary() const { return layout.vocabulary; }
  bool isText() const { return layout.kind == TokenLayout::Kind::Text; }

  // Reads tokens [first, first + n) into `out`; throws Error for an id outside
  // the vocabulary.
  void read(int64_t first, int64_t n, int32_t *out);

  // Whether some tokens do not count as targets, and the replacement of those of
  // [first, first + n), which are at `targets`, by `ignored`.
  bool isMasked() const { return static_cast<bool>(layout.mask); }
  void mask(int64_t first, int64_t n, int32_t ignored, int32_t *targets);

  // The tokens that documents begin with, rising; none where the file does not say.
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
