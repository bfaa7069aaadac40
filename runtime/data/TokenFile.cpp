//===- TokenFile.cpp - text and token files on disk -----------------------===//

#include "data/TokenFile.h"

#include "base/Error.h"
#include "data/DataRows.h"

#include <algorithm>
#include <cstring>

using namespace braid;

TokenFile::TokenFile(const std::string &path, int64_t vocab, DataFormat format)
    : file(File::openForReading(path)), format(format), vocab(vocab), layout(layoutOf(file, format)) {
  if (layout.tokens == 0)
    fail("the token file '", path, "' holds no tokens");
  if (isText())
    checkText();
  checkIds();
}

// Refuses a text file if the model's tokens are not bytes: any file can be read as bytes, and the model
// would silently learn nothing.
void TokenFile::checkText() const {
  if (vocab < 256)
    fail("'", path(), "' is a text file, whose bytes are tokens up to 255, but the model has a vocabulary of ", vocab,
         "; give a binary token file, or compile with a vocabulary of at least 256");
  if (vocab > 256 && format == DataFormat::Auto)
    fail("'", path(), "' is ", kindOf(file),
         ", whose bytes would be tokens up to 255, but the model has a vocabulary of ", vocab,
         "; make tokens of text with scripts/tokenize, give --data-format=nanogpt if it holds nanoGPT's ids of 2 ",
         "bytes, or --data-format=bytes if bytes are meant");
}

// Reads ids once, which checks them; in a text file this finds bytes that text does not have.
void TokenFile::checkIds() {
  constexpr int64_t step = 1 << 16;
  std::vector<int32_t> ids(step);
  for (int64_t at = 0; at < std::min(layout.tokens, elementsCheckedAtStart); at += step)
    read(at, std::min(step, layout.tokens - at), ids.data());
  buffer = std::vector<unsigned char>(); // frees memory; the first window allocates it again
}

void TokenFile::read(int64_t first, int64_t n, int32_t *out) {
  const int width = layout.bytesPerToken;
  if (static_cast<int64_t>(buffer.size()) < n * width)
    buffer.resize(n * width);
  file.readAt(layout.idsBegin + first * width, buffer.data(), n * width);
  if (isText() && format == DataFormat::Auto)
    if (const void *zero = std::memchr(buffer.data(), 0, n))
      fail("'", path(), "' has a NUL at byte ", first + (static_cast<const unsigned char *>(zero) - buffer.data()),
           ", so it is not text; give --data-format=nanogpt if it holds nanoGPT's ids of 2 bytes, --data-format=bytes "
           "if any bytes are meant, or make a token file with scripts/tokenize");
  for (int64_t i = 0; i < n; ++i) {
    uint64_t id = readLittleEndian(buffer.data() + i * width, width);
    if (id >= static_cast<uint64_t>(smallestVocabulary()))
      failForId(first + i, id);
    out[i] = static_cast<int32_t>(id);
  }
}

int64_t TokenFile::smallestVocabulary() const {
  return layout.vocabulary > 0 ? std::min(layout.vocabulary, vocab) : vocab;
}

void TokenFile::failForId(int64_t token, uint64_t id) const {
  const std::string what =
      concat("token ", token, " of '", path(), "' (byte ", layout.idsBegin + token * layout.bytesPerToken, ") is ", id);
  if (id < static_cast<uint64_t>(vocab))
    fail("the token file is corrupt: ", what, ", but its own header claims a vocabulary of ", layout.vocabulary);
  fail(what, ", but the model's vocabulary has ", vocab, " entries",
       layout.vocabulary > vocab ? concat(", and that of the file has ", layout.vocabulary) : "",
       "; use data made for this vocabulary");
}

std::vector<int64_t> TokenFile::documents() const {
  std::vector<int64_t> starts(layout.documents.count);
  std::vector<unsigned char> raw(8 * starts.size());
  if (!raw.empty())
    file.readAt(layout.documents.begin, raw.data(), raw.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint64_t start = readLittleEndian(raw.data() + 8 * i, 8);
    if (start >= static_cast<uint64_t>(layout.tokens) || (i > 0 && static_cast<int64_t>(start) <= starts[i - 1]))
      fail("the token file '", path(), "' is corrupt: document ", i, " begins with token ", start, ", but there are ",
           layout.tokens, " tokens, and the document in front of it begins with ", i > 0 ? starts[i - 1] : 0);
    starts[i] = static_cast<int64_t>(start);
  }
  return starts;
}

void TokenFile::mask(int64_t first, int64_t n, int32_t ignored, int32_t *targets) {
  if (!isMasked() || n == 0)
    return;
  const int64_t begin = first / 8, end = (first + n + 7) / 8;
  if (static_cast<int64_t>(buffer.size()) < end - begin)
    buffer.resize(end - begin);
  file.readAt(layout.mask.begin + begin, buffer.data(), end - begin);
  for (int64_t i = 0; i < n; ++i)
    if (int64_t bit = first + i - 8 * begin; !(buffer[bit / 8] >> bit % 8 & 1))
      targets[i] = ignored;
}
