//===- TokenFile.cpp - text and token ids on disk -------------------------===//

#include "data/TokenFile.h"

#include "base/Error.h"
#include "data/DataChecks.h"

#include <algorithm>
#include <cstring>

using namespace braid;

namespace {

constexpr uint64_t headerBytes = 64;
constexpr char magic[] = "BRAIDTOK";

uint64_t littleEndian(const unsigned char *p, int bytes) {
  uint64_t x = 0;
  for (int i = bytes - 1; i >= 0; --i)
    x = x << 8 | p[i];
  return x;
}

} // namespace

TokenFile::TokenFile(const std::string &path, int64_t vocab) : file(File::openForReading(path)), vocab(vocab) {
  uint64_t size = file.size();
  if (size == 0)
    fail("the data file '", path, "' is empty");
  unsigned char start[8] = {};
  file.readAt(0, start, std::min<uint64_t>(size, 8));
  if (std::memcmp(start, magic, 8) == 0) {
    parseHeader(size);
    checkIds();
    return;
  }
  if (vocab < 256)
    fail("'", path,
         "' is a text file, whose bytes are tokens up to 255, but the model "
         "has a "
         "vocabulary of ",
         vocab,
         "; give a binary token file, or compile with a "
         "vocabulary of at least 256");
  tokens = static_cast<int64_t>(size);
}

void TokenFile::parseHeader(uint64_t size) {
  const std::string &path = file.path();
  if (size < headerBytes)
    fail("the token file '", path, "' has ", size, " bytes, fewer than its header of ", headerBytes);
  unsigned char header[headerBytes];
  file.readAt(0, header, headerBytes);
  uint64_t version = littleEndian(header + 8, 4), width = littleEndian(header + 12, 4);
  uint64_t count = littleEndian(header + 16, 8), fileVocab = littleEndian(header + 24, 8);
  if (version != 1)
    fail("the token file '", path, "' has version ", version, ", this program reads version 1");
  if (width != 2 && width != 4)
    fail("the token file '", path, "' has ", width, " bytes a token, not 2 or 4");
  if (count == 0)
    fail("the token file '", path, "' holds no tokens");
  if (count > (size - headerBytes) / width || count * width != size - headerBytes)
    fail("the token file '", path, "' claims ", count, " tokens of ", width, " bytes, but ", size - headerBytes,
         " bytes follow its header");
  if (fileVocab > INT32_MAX)
    fail("the token file '", path, "' claims a vocabulary of ", fileVocab);
  tokens = static_cast<int64_t>(count);
  bytesPerToken = static_cast<int>(width);
  dataStart = headerBytes;
}

void TokenFile::checkIds() {
  constexpr int64_t step = 1 << 16;
  std::vector<int32_t> ids(step);
  for (int64_t at = 0; at < std::min(tokens, elementsCheckedAtStart); at += step)
    read(at, std::min(step, tokens - at), ids.data());
  buffer = std::vector<unsigned char>(); // sized again by the first window
}

void TokenFile::read(int64_t first, int64_t n, int32_t *out) {
  if (static_cast<int64_t>(buffer.size()) < n * bytesPerToken)
    buffer.resize(n * bytesPerToken);
  file.readAt(dataStart + first * bytesPerToken, buffer.data(), n * bytesPerToken);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t id = littleEndian(buffer.data() + i * bytesPerToken, bytesPerToken);
    if (id >= static_cast<uint64_t>(vocab))
      fail("token ", first + i, " of '", file.path(), "' (byte ", dataStart + (first + i) * bytesPerToken, ") is ", id,
           ", but the model's vocabulary has ", vocab, " entries; use data made for this vocabulary");
    out[i] = static_cast<int32_t>(id);
  }
}
