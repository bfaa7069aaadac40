//===- TokenFormatsTest.cpp - what files of tokens are read as ------------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "data/TokenFile.h"
#include "data/TokenTable.h"

#include <gtest/gtest.h>
#include <vector>

using namespace braid;
using namespace braid::test;

namespace {

// A token file of version 2, whose header a test may change.
struct Version2 {
  std::vector<uint64_t> ids;
  std::vector<std::string> texts = {}; // of all tokens, or none
  std::string mask = {};
  std::vector<uint64_t> documents = {};
  uint64_t vocabulary = 4, end = UINT32_MAX, flags = 0, version = 2;
  uint64_t width = 2;

  std::string bytes() const {
    std::string table, offsets = littleEndian(0, 4);
    for (const std::string &text : texts)
      offsets += littleEndian((table += text).size(), 4);
    std::string file = "BRAIDTOK" + littleEndian(version, 4) + littleEndian(width, 4) + littleEndian(ids.size(), 8) +
                       littleEndian(vocabulary, 8) + littleEndian(documents.size(), 8) + littleEndian(table.size(), 8) +
                       littleEndian(flags | (mask.empty() ? 0 : 1), 4) + littleEndian(end, 4) + littleEndian(0, 8);
    auto section = [&](const std::string &data) {
      if (!data.empty())
        file.resize((file.size() + 7) / 8 * 8), file += data;
    };
    for (uint64_t id : ids)
      file += littleEndian(id, static_cast<int>(width));
    section(mask);
    std::string starts;
    for (uint64_t start : documents)
      starts += littleEndian(start, 8);
    section(starts);
    section(table.empty() ? "" : offsets);
    section(table);
    return file;
  }
};

std::string llmc(uint64_t magic, uint64_t version, const std::vector<uint64_t> &ids, int width) {
  std::string file = littleEndian(magic, 4) + littleEndian(version, 4) + littleEndian(ids.size(), 4);
  file.resize(1024);
  for (uint64_t id : ids)
    file += littleEndian(id, width);
  return file;
}

std::vector<int32_t> idsOf(const std::string &content, int64_t vocab, DataFormat format = DataFormat::Auto) {
  ScratchDirectory scratch;
  TokenFile file(writeFile(scratch / "data", content), vocab, format);
  std::vector<int32_t> ids(file.count());
  file.read(0, file.count(), ids.data());
  return ids;
}

std::string refusal(const std::string &content, int64_t vocab, DataFormat format = DataFormat::Auto) {
  try {
    idsOf(content, vocab, format);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

#define EXPECT_REFUSED(reason, ...)                                                                                    \
  EXPECT_NE(refusal(__VA_ARGS__).find(reason), std::string::npos) << refusal(__VA_ARGS__)

using Ids = std::vector<int32_t>;

TEST(TokenFormats, versionTwo) {
  EXPECT_EQ(idsOf(Version2{{3, 0, 2}}.bytes(), 4), (Ids{3, 0, 2}));
  EXPECT_EQ(idsOf(Version2{.ids = {3, 0, 2}, .width = 4}.bytes(), 4), (Ids{3, 0, 2}));
  Version2 whole{.ids = {3, 0, 2}, .texts = {"a", "", "b", "."}, .mask = "\5", .documents = {0, 2}, .end = 3};
  EXPECT_EQ(idsOf(whole.bytes(), 4), (Ids{3, 0, 2}));
  EXPECT_REFUSED("is 3, but the model's vocabulary has 3", whole.bytes(), 3);
}

TEST(TokenFormats, versionTwoThatClaimsWhatItHasNot) {
  Version2 good{.ids = {3, 0, 2}, .texts = {"a", "", "b", "."}, .mask = "\5", .documents = {0, 2}, .end = 3};
  const std::string bytes = good.bytes();
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(refusal(bytes.substr(0, length), length < 8 ? 255 : 4), "") << length;
  EXPECT_REFUSED("but its header accounts for", bytes + "x", 4);
  auto with = [&](size_t at, uint64_t number, int width) {
    std::string changed = bytes;
    return changed.replace(at, width, littleEndian(number, width));
  };
  EXPECT_REFUSED("has version 3, but this program reads versions 1 and 2", with(8, 3, 4), 4);
  EXPECT_REFUSED("3 bytes a token", with(12, 3, 4), 4);
  EXPECT_REFUSED("holds no tokens", Version2{{}}.bytes(), 4);
  EXPECT_REFUSED("claims 9223372036854775808 tokens", with(16, uint64_t{1} << 63, 8), 4);
  EXPECT_REFUSED("claims a vocabulary of 18446744073709551615", with(24, UINT64_MAX, 8), 4);
  EXPECT_REFUSED("claims 2305843009213693952 documents", with(32, uint64_t{1} << 61, 8), 4);
  EXPECT_REFUSED("bytes of text in its table", with(40, UINT64_MAX, 8), 4);
  EXPECT_REFUSED("has the flags 3", with(48, 3, 4), 4);
  EXPECT_REFUSED("claims token 4 as the end of text, in a vocabulary of 4", with(52, 4, 4), 4);
  EXPECT_REFUSED("bytes 56 to 63 of its header are not zero", with(60, 1, 1), 4);
}

TEST(TokenFormats, theMaskReplacesTargets) {
  ScratchDirectory scratch;
  Version2 masked{.ids = std::vector<uint64_t>(20, 1), .mask = std::string("\x81\x01\x08", 3)};
  TokenFile file(writeFile(scratch / "data", masked.bytes()), 4);
  ASSERT_TRUE(file.isMasked());
  Ids targets(20, 1);
  file.mask(0, 20, -100, targets.data());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(targets[i], i == 0 || i == 7 || i == 8 || i == 19 ? 1 : -100) << i;
  targets.assign(13, 1);
  file.mask(7, 13, -100, targets.data());
  EXPECT_EQ(targets[0], 1);
  EXPECT_EQ(targets[1], 1);
  EXPECT_EQ(targets[2], -100);
  EXPECT_EQ(targets[12], 1);
}

TEST(TokenFormats, llmc) {
  EXPECT_EQ(idsOf(llmc(20240520, 1, {50256, 7}, 2), 50257), (Ids{50256, 7}));
  EXPECT_EQ(idsOf(llmc(20240801, 7, {128000, 7}, 4), 128256), (Ids{128000, 7}));
  EXPECT_REFUSED("has version 2, but this program reads version 1", llmc(20240520, 2, {1}, 2), 50257);
  EXPECT_REFUSED("claims 1 tokens of 2 bytes, but 4 bytes follow", llmc(20240520, 1, {1}, 4), 50257);
  EXPECT_REFUSED("fewer than its header of 1024", llmc(20240520, 1, {}, 2).substr(0, 700), 50257);
  EXPECT_REFUSED("claims 0 tokens", llmc(20240520, 1, {}, 2), 50257);
}

// Nothing in the file shows its format, so the user gives it.
TEST(TokenFormats, nanoGpt) {
  const std::string ids = littleEndian(50256, 2) + littleEndian(7, 2);
  EXPECT_EQ(idsOf(ids, 50257, DataFormat::NanoGpt), (Ids{50256, 7}));
  EXPECT_REFUSED("has 3 bytes, an odd number", ids.substr(1), 50257, DataFormat::NanoGpt);
  EXPECT_REFUSED("is 50256, but the model's vocabulary has 50000", ids, 50000, DataFormat::NanoGpt);
  EXPECT_REFUSED("--data-format=nanogpt", ids, 50257);
  EXPECT_REFUSED("has a NUL at byte 3, so it is not text; give --data-format=nanogpt", ids, 256);
}

TEST(TokenFormats, textIsForBytes) {
  EXPECT_EQ(idsOf("ab", 256), (Ids{'a', 'b'}));
  EXPECT_REFUSED("is a text file, whose bytes would be tokens up to 255, but the model has a vocabulary of 50257; make "
                 "tokens of text with scripts/tokenize",
                 "ab", 50257);
  EXPECT_EQ(idsOf("ab", 50257, DataFormat::Bytes), (Ids{'a', 'b'}));
  EXPECT_EQ(idsOf(std::string("a\0b", 3), 256, DataFormat::Bytes), (Ids{'a', 0, 'b'}));
  EXPECT_REFUSED("has a NUL at byte 1", std::string("a\0b", 3), 256);
}

TEST(TokenFormats, tensorsAreNoTokens) {
  const std::string tensors = safetensors("{}", "");
  EXPECT_REFUSED("is a safetensors file, but the model reads tokens", tensors, 256);
  EXPECT_REFUSED("is a safetensors file, but the model reads tokens", regressionData(), 50257);
}

TEST(TokenFormats, tokensAreNoTensors) {
  ScratchDirectory scratch;
  auto errorsOf = [&](const std::string &content) {
    return runMain(regressionModel(), {"train", "--data", writeFile(scratch / "data", content), "--steps", "1"}).errors;
  };
  auto expect = [](const std::string &errors, const char *part) {
    EXPECT_NE(errors.find(part), std::string::npos) << errors;
  };
  expect(errorsOf("some text"),
         "is a text file, but the model takes no tokens: give a safetensors file with rows of 'x'");
  expect(errorsOf(Version2{{1}}.bytes()), "is a token file, but the model takes no tokens");
  expect(errorsOf(llmc(20240520, 1, {1}, 2)), "is llm.c's token file, but the model takes no tokens");
  expect(errorsOf(regressionData().substr(0, 40)), "is not a usable safetensors file");
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

TEST(TokenTables, textOfTokens) {
  ScratchDirectory scratch;
  Version2 file{.ids = {0}, .texts = {"a", "", "bc", "."}, .end = 3};
  auto table = TokenTable::read(writeFile(scratch / "data", file.bytes()));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->textOf(0), "a");
  EXPECT_EQ(table->textOf(1), "");
  EXPECT_EQ(table->textOf(2), "bc");
  EXPECT_EQ(table->textOf(4), "\xef\xbf\xbd"); // of a model with a padded vocabulary
  EXPECT_EQ(table->endOfText(), 3);
  table->write(scratch / "alone");
  EXPECT_EQ(TokenTable::read(scratch / "alone"), table);
  EXPECT_EQ(TokenTable::read(writeFile(scratch / "data", Version2{{0}}.bytes())), std::nullopt);
}

TEST(TokenTables, damaged) {
  ScratchDirectory scratch;
  const std::string bytes = Version2{.ids = {0}, .texts = {"a", "", "bc", "."}}.bytes();
  auto read = [&](size_t at, uint64_t number) {
    std::string changed = bytes;
    return TokenTable::read(writeFile(scratch / "data", changed.replace(72 + 4 * at, 4, littleEndian(number, 4))));
  };
  EXPECT_TRUE(read(0, 0));
  EXPECT_THROW(read(0, 1), Error);
  EXPECT_THROW(read(2, UINT32_MAX), Error);
  EXPECT_THROW(read(3, 0), Error);
  EXPECT_THROW(read(4, 3), Error);
  EXPECT_THROW(TokenTable::read(writeFile(scratch / "data", "text")), Error);
}

TEST(TokenTables, ofFilesOfDifferentTokenizers) {
  ScratchDirectory scratch;
  auto write = [&](const char *name, const char *text) {
    return writeFile(scratch / name, Version2{.ids = {0}, .texts = {"a", "", text, "."}}.bytes());
  };
  const std::string one = write("one", "b"), same = write("same", "b"), other = write("other", "c");
  const std::string none = writeFile(scratch / "none", Version2{{0}}.bytes());
  EXPECT_EQ(tableOf(findData({none, one, same}, DataFormat::Auto))->textOf(2), "b");
  EXPECT_EQ(tableOf(findData({none}, DataFormat::Auto)), std::nullopt);
  EXPECT_THROW(tableOf(findData({one, other}, DataFormat::Auto)), Error);
}

} // namespace
