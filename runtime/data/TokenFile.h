//===- TokenFile.h - text and token ids on disk ---------------------------===//
//
// Two kinds of file hold a sequence of tokens.  A text file is one token a
// byte. A binary file starts with 64 bytes, all numbers little-endian:
//
//   offset  0  "BRAIDTOK"
//           8  u32  version, 1
//          12  u32  bytes per token, 2 or 4
//          16  u64  number of tokens
//          24  u64  vocabulary size; every id is below it
//          32  32 bytes of zeros
//
// and goes on with the ids, unsigned.  Windows are read with pread into a
// buffer that is reused: a mapped file would grow the resident size page by
// page.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOKENFILE_H
#define BRAID_DATA_TOKENFILE_H

#include "base/File.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

class TokenFile {
public:
  // `vocab` is the model's; throws Error for a file that cannot be its data.
  TokenFile(const std::string &path, int64_t vocab);

  const std::string &path() const { return file.path(); }
  int64_t count() const { return tokens; }
  bool isText() const { return bytesPerToken == 1; }

  // Reads tokens [first, first + n) into `out`; throws Error for an id outside
  // the vocabulary.
  void read(int64_t first, int64_t n, int32_t *out);

private:
  void parseHeader(uint64_t size);
  void checkIds();

  File file;
  int64_t vocab;
  int64_t tokens = 0;
  uint64_t dataStart = 0;
  int bytesPerToken = 1;
  std::vector<unsigned char> buffer;
};

} // namespace braid
#endif // BRAID_DATA_TOKENFILE_H
