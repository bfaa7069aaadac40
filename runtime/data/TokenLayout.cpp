//===- TokenLayout.cpp - the layout of a token file -----------------------===//

#include "data/TokenLayout.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace braid;

namespace {

constexpr uint64_t headerBytes = 64;
constexpr char magic[] = "BRAIDTOK";
constexpr uint32_t hasMask = 1;
constexpr uint64_t noToken = UINT32_MAX;

// An llm.c file begins with 256 integers, of which three are used.
constexpr uint64_t llmcHeaderBytes = 1024;
struct LlmcKind {
  uint32_t magic, version;
  int width;
};
constexpr LlmcKind llmcKinds[] = {{20240520, 1, 2}, {20240801, 7, 4}};

using Start = std::array<unsigned char, 16>;

Start startOf(const File &file) {
  Start start{};
  file.readAt(0, start.data(), std::min<uint64_t>(file.size(), start.size()));
  return start;
}

bool isTokenFile(const Start &start) { return std::memcmp(start.data(), magic, 8) == 0; }

const LlmcKind *llmcKindOf(const Start &start) {
  for (const LlmcKind &kind : llmcKinds)
    if (readLittleEndian(start.data(), 4) == kind.magic)
      return &kind;
  return nullptr;
}

// Sections lie one behind another, each aligned to 8 bytes.
class Sections {
public:
  Sections(const File &file, uint64_t begin) : file(file), size(file.size()), at(begin) {}

  Section next(const char *what, uint64_t count, uint64_t width) {
    at = (at + 7) / 8 * 8;
    if (at > size || count > (size - at) / width)
      fail("the token file '", file.path(), "' claims ", count, " ", what, " of ", width, " bytes, but ",
           size - std::min(at, size), " bytes follow the sections before them");
    Section section{at, static_cast<int64_t>(count)};
    at += count * width;
    return section;
  }
  void checkEnd() const {
    if (at != size)
      fail("the token file '", file.path(), "' has ", size, " bytes, but its header accounts for ", at);
  }

private:
  const File &file;
  const uint64_t size;
  uint64_t at;
};

class Header {
public:
  explicit Header(const File &file) : path(file.path()) {
    if (file.size() < headerBytes)
      fail("the token file '", path, "' has ", file.size(), " bytes, fewer than its header of ", headerBytes);
    file.readAt(0, bytes.data(), bytes.size());
  }

  uint64_t number(int at, int width) const { return readLittleEndian(bytes.data() + at, width); }

  // Reads the fields that both versions have.
  TokenLayout common() const {
    const uint64_t width = number(12, 4), vocabulary = number(24, 8);
    if (width != 2 && width != 4)
      fail("the token file '", path, "' has ", width, " bytes a token, not 2 or 4");
    if (vocabulary > INT32_MAX)
      fail("the token file '", path, "' claims a vocabulary of ", vocabulary);
    TokenLayout layout;
    layout.kind = TokenLayout::Kind::Tokens;
    layout.bytesPerToken = static_cast<int>(width);
    layout.idsBegin = headerBytes;
    layout.vocabulary = static_cast<int64_t>(vocabulary);
    return layout;
  }

  const std::string path;

private:
  std::array<unsigned char, headerBytes> bytes{};
};

TokenLayout versionOne(const File &file, const Header &header) {
  TokenLayout layout = header.common();
  const uint64_t count = header.number(16, 8), width = layout.bytesPerToken, rest = file.size() - headerBytes;
  if (count == 0)
    fail("the token file '", header.path, "' holds no tokens");
  if (count > rest / width || count * width != rest)
    fail("the token file '", header.path, "' claims ", count, " tokens of ", width, " bytes, but ", rest,
         " bytes follow its header");
  layout.tokens = static_cast<int64_t>(count);
  return layout;
}

TokenLayout versionTwo(const File &file, const Header &header) {
  TokenLayout layout = header.common();
  const uint64_t documents = header.number(32, 8), textBytes = header.number(40, 8);
  const uint64_t flags = header.number(48, 4), endOfText = header.number(52, 4);
  if (flags & ~uint64_t{hasMask})
    fail("the token file '", header.path, "' has the flags ", flags,
         ", but this program knows only the flag 1; update the program");
  if (header.number(56, 8) != 0)
    fail("the token file '", header.path, "' is corrupt: bytes 56 to 63 of its header are not zero");
  if (textBytes > UINT32_MAX)
    fail("the token file '", header.path, "' claims ", textBytes, " bytes of text in its table");
  if (endOfText != noToken && endOfText >= static_cast<uint64_t>(layout.vocabulary))
    fail("the token file '", header.path, "' claims token ", endOfText, " as the end of text, in a vocabulary of ",
         layout.vocabulary);
  Sections sections(file, headerBytes);
  layout.tokens = sections.next("tokens", header.number(16, 8), layout.bytesPerToken).count;
  if (flags & hasMask)
    layout.mask = sections.next("bytes of the loss's mask", (static_cast<uint64_t>(layout.tokens) + 7) / 8, 1);
  if (documents > 0)
    layout.documents = sections.next("documents", documents, 8);
  if (textBytes > 0) {
    layout.tableOffsets = sections.next("places in the table", layout.vocabulary + 1, 4);
    layout.tableBytes = sections.next("characters of the table", textBytes, 1);
  }
  sections.checkEnd();
  layout.endOfText = endOfText == noToken ? -1 : static_cast<int64_t>(endOfText);
  return layout;
}

TokenLayout tokenFileOf(const File &file) {
  const Header header(file);
  const uint64_t version = header.number(8, 4);
  if (version != 1 && version != 2)
    fail("the token file '", header.path, "' has version ", version, ", but this program reads versions 1 and 2");
  return version == 1 ? versionOne(file, header) : versionTwo(file, header);
}

TokenLayout llmcFileOf(const File &file, const Start &start, const LlmcKind &kind) {
  const uint64_t version = readLittleEndian(start.data() + 4, 4), count = readLittleEndian(start.data() + 8, 4);
  const std::string where = concat("llm.c's token file '", file.path(), "' ");
  if (file.size() < llmcHeaderBytes)
    fail(where, "has ", file.size(), " bytes, fewer than its header of ", llmcHeaderBytes);
  if (version != kind.version)
    fail(where, "has version ", version, ", but this program reads version ", kind.version, " of its kind");
  const uint64_t rest = file.size() - llmcHeaderBytes;
  if (count == 0 || count * kind.width != rest)
    fail(where, "claims ", count, " tokens of ", kind.width, " bytes, but ", rest, " bytes follow its header");
  TokenLayout layout;
  layout.kind = TokenLayout::Kind::Ids;
  layout.tokens = static_cast<int64_t>(count);
  layout.bytesPerToken = kind.width;
  layout.idsBegin = llmcHeaderBytes;
  return layout;
}

TokenLayout nanoGptFileOf(const File &file) {
  if (file.size() % 2 != 0)
    fail("'", file.path(), "' has ", file.size(), " bytes, an odd number, so it does not hold nanoGPT's tokens of 2 ",
         "bytes (--data-format=nanogpt)");
  TokenLayout layout;
  layout.kind = TokenLayout::Kind::Ids;
  layout.tokens = static_cast<int64_t>(file.size() / 2);
  layout.bytesPerToken = 2;
  return layout;
}

} // namespace

uint64_t braid::readLittleEndian(const unsigned char *bytes, int count) {
  uint64_t x = 0;
  for (int i = count - 1; i >= 0; --i)
    x = x << 8 | bytes[i];
  return x;
}

bool braid::looksLikeSafetensors(const File &file) {
  const Start start = startOf(file);
  return file.size() > 8 && readLittleEndian(start.data(), 8) <= file.size() - 8 && start[8] == '{';
}

const char *braid::kindOf(const File &file) {
  const Start start = startOf(file);
  if (isTokenFile(start))
    return "a token file";
  if (llmcKindOf(start))
    return "llm.c's token file";
  if (looksLikeSafetensors(file))
    return "a safetensors file";
  std::array<char, 4096> text{};
  const uint64_t count = std::min<uint64_t>(file.size(), text.size());
  file.readAt(0, text.data(), count);
  return std::memchr(text.data(), 0, count) ? "a file of an unknown kind" : "a text file";
}

TokenLayout braid::layoutOf(const File &file, DataFormat format) {
  if (file.size() == 0)
    fail("the data file '", file.path(), "' is empty");
  const Start start = startOf(file);
  if (isTokenFile(start))
    return tokenFileOf(file);
  if (const LlmcKind *llmc = llmcKindOf(start))
    return llmcFileOf(file, start, *llmc);
  if (format == DataFormat::NanoGpt)
    return nanoGptFileOf(file);
  if (format == DataFormat::Auto && looksLikeSafetensors(file))
    fail(
        "'", file.path(),
        "' is a safetensors file, but the model reads tokens; give text or a token file, which scripts/tokenize makes");
  TokenLayout layout;
  layout.tokens = static_cast<int64_t>(file.size());
  return layout;
}
