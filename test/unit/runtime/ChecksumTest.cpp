//===- ChecksumTest.cpp - checksums, and files that carry them ------------===//

#include "base/Checksum.h"
#include "TestFiles.h"
#include "checkpoint/CheckedFile.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

// Files keep checksums for years, so they must equal other implementations of XXH3.
TEST(Checksum, isXxh3) {
  EXPECT_EQ(checksumText(checksumOf("", 0)), "2d06800538d394c2");
  EXPECT_EQ(checksumText(checksumOf("a", 1)), "e6c632b61e964e1f");
  EXPECT_EQ(parseChecksum("2d06800538d394c2"), 0x2d06800538d394c2u);
  EXPECT_FALSE(parseChecksum("2d06800538d394c"));
  EXPECT_FALSE(parseChecksum("2d06800538d394cG"));
}

TEST(Checksum, isTheSameInPieces) {
  std::mt19937 random(3);
  std::string text(300000, '\0');
  for (char &c : text)
    c = static_cast<char>(random());
  Checksum sum;
  for (size_t at = 0, count; at < text.size(); at += count) {
    count = std::min<size_t>(random() % 5000, text.size() - at);
    sum.add(text.data() + at, count);
  }
  EXPECT_EQ(sum.value(), checksumOf(text.data(), text.size()));
}

TEST(Checksum, sealedTextsShowEveryFlippedBit) {
  std::string text = "{\"a\":\"0000000000000000\", the rest}";
  EXPECT_FALSE(isSealed(text, 6));
  seal(text, 6);
  EXPECT_TRUE(isSealed(text, 6));
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string bad = text;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(isSealed(bad, 6)) << bit;
  }
  EXPECT_FALSE(isSealed("short", 0));
}

// Tensors without bytes, smaller than a block, of whole blocks, and slightly larger.
class Checked : public testing::Test {
protected:
  Checked() {
    const uint64_t lengths[] = {0, 1000, checkedBlockBytes, 2 * checkedBlockBytes + 5};
    std::mt19937 random(4);
    std::string header(8, '\0'), entries;
    for (uint64_t length : lengths) {
      entries += concat(",\"t", length, "\":{\"dtype\":\"U8\",\"shape\":[", length, "],\"data_offsets\":[", data.size(),
                        ",", data.size() + length, "]}");
      for (uint64_t i = 0; i < length; ++i)
        data += static_cast<char>(random());
    }
    header += kSealedHeader;
    header +=
        concat("0000000000000000\",\"", kBlockBytes, "\":\"", checkedBlockBytes, "\",\"", kBlockChecksums, "\":\"");
    const size_t digits = header.size();
    header += std::string(5 * checksumDigits, '0') + "\"}" + entries + "}";
    header[0] = static_cast<char>((header.size() - 8) & 255), header[1] = static_cast<char>((header.size() - 8) >> 8);
    File file = File::createForWriting(path);
    file.write(header.data(), header.size());
    CheckedWriter writer(file, header.data() + digits);
    const char *at = data.data();
    for (uint64_t length : lengths) {
      for (uint64_t done = 0, count; done < length; done += count) {
        count = std::min<uint64_t>(random() % (3 * checkedBlockBytes / 2), length - done);
        writer.write(reinterpret_cast<const std::byte *>(at + done), count);
      }
      at += length;
      writer.endTensor();
    }
    seal(header, 8 + kSealedHeader.size());
    file.writeAt(0, header.data(), header.size());
    start = header.size();
  }

  ScratchDirectory scratch;
  std::string path = scratch / "file", data;
  size_t start = 0;
};

TEST_F(Checked, anyRangeIsRead) {
  CheckedFile file(path);
  EXPECT_TRUE(file.hasChecksums());
  std::mt19937 random(5);
  for (const TensorEntry &entry : file.tensors().entries())
    for (int i = 0; i < 100; ++i) {
      const uint64_t all = entry.end - entry.begin, from = random() % (all + 1), count = random() % (all - from + 1);
      std::string out(count, '\0');
      file.read(entry, from, out.data(), count);
      EXPECT_EQ(out, data.substr(entry.begin + from, count));
    }
}

TEST_F(Checked, aFlippedBitIsFoundWhereItIs) {
  const std::string good = readFile(path);
  std::mt19937 random(6);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    const size_t place = random() % data.size();
    bad[start + place] ^= static_cast<char>(1 << random() % 8);
    writeFile(path, bad);
    CheckedFile file(path);
    for (const TensorEntry &entry : file.tensors().entries()) {
      const bool isHere = place >= entry.begin && place < entry.end;
      std::string out(entry.end - entry.begin, '\0'), error;
      try {
        file.read(entry, 0, out.data(), out.size());
      } catch (const DamagedData &damage) {
        error = damage.what();
      }
      const uint64_t block = isHere ? (place - entry.begin) / checkedBlockBytes * checkedBlockBytes : 0;
      const std::string where = concat("'", path, "' is damaged: bytes [", block, ", ");
      EXPECT_EQ(error.substr(0, where.size()), isHere ? where : "");
      EXPECT_EQ(error.find("of tensor '" + entry.name + "'") != std::string::npos, isHere) << error;
    }
  }
}

TEST_F(Checked, everyBitOfTheHeaderCounts) {
  const std::string good = readFile(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  auto put = [&](size_t at, char byte) { file.seekp(static_cast<std::streamoff>(at)).put(byte).flush(); };
  for (size_t bit = 0; bit < 8 * start; ++bit) {
    put(bit / 8, good[bit / 8] ^ static_cast<char>(1 << bit % 8));
    EXPECT_THROW(CheckedFile(path).tensors(), Error) << bit;
    put(bit / 8, good[bit / 8]);
  }
  EXPECT_NO_THROW(CheckedFile(path).tensors());
}

} // namespace
