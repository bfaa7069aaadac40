//===- TokenTable.cpp - the text of each token ----------------------------===//

#include "data/TokenTable.h"

#include "base/Error.h"
#include "base/File.h"
#include "data/TokenLayout.h"

#include <algorithm>

using namespace braid;

std::optional<TokenTable> TokenTable::read(const std::string &path) {
  const File file = File::openForReading(path);
  const TokenLayout layout = layoutOf(file, DataFormat::Bytes);
  if (layout.kind != TokenLayout::Kind::Tokens)
    fail("'", path, "' is ", kindOf(file), ", not a token file with a table; scripts/tokenize makes one");
  if (!layout.tableOffsets)
    return std::nullopt;
  std::vector<unsigned char> raw(4 * layout.tableOffsets.count);
  file.readAt(layout.tableOffsets.begin, raw.data(), raw.size());
  TokenTable table;
  table.offsets.resize(layout.tableOffsets.count);
  for (size_t i = 0; i < table.offsets.size(); ++i)
    table.offsets[i] = static_cast<uint32_t>(readLittleEndian(raw.data() + 4 * i, 4));
  const bool isInOrder = std::is_sorted(table.offsets.begin(), table.offsets.end());
  if (!isInOrder || table.offsets.front() != 0 || table.offsets.back() != layout.tableBytes.count)
    fail("the token file '", path, "' is corrupt: the places in its table do not rise from 0 to the ",
         layout.tableBytes.count, " bytes of its text");
  table.text.resize(layout.tableBytes.count);
  file.readAt(layout.tableBytes.begin, table.text.data(), table.text.size());
  table.end = layout.endOfText;
  return table;
}

std::string_view TokenTable::textOf(int64_t token) const {
  if (token < 0 || token >= vocabulary())
    return "\xef\xbf\xbd";
  return std::string_view(text).substr(offsets[token], offsets[token + 1] - offsets[token]);
}

static void append(std::string &bytes, uint64_t number, int width) {
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(number >> 8 * i);
}

void TokenTable::write(const std::string &path) const {
  std::string bytes = "BRAIDTOK";
  append(bytes, 2, 4);
  append(bytes, 4, 4);
  append(bytes, 0, 8); // number of tokens
  append(bytes, vocabulary(), 8);
  append(bytes, 0, 8); // number of documents
  append(bytes, text.size(), 8);
  append(bytes, 0, 4); // flags
  append(bytes, end < 0 ? UINT32_MAX : end, 4);
  append(bytes, 0, 8);
  for (uint32_t offset : offsets)
    append(bytes, offset, 4);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  replaceFile(path, bytes + text);
}

std::optional<TokenTable> braid::tableOf(const DataFiles &data) {
  std::optional<TokenTable> table;
  std::string from;
  for (const DataGroup &group : data.groups)
    for (const std::string &path : group.paths) {
      const File file = File::openForReading(path);
      if (layoutOf(file, data.format).kind != TokenLayout::Kind::Tokens)
        continue;
      std::optional<TokenTable> own = TokenTable::read(path);
      if (table && own && *own != *table)
        fail("'", from, "' and '", path, "' were made by different tokenizers: their tables of tokens differ");
      if (own && !table)
        table = std::move(own), from = path;
    }
  return table;
}
