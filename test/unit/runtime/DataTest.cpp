//===- DataTest.cpp - token files and batches -----------------------------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "data/TokenBatches.h"
#include "data/TokenFile.h"

#include <gtest/gtest.h>
#include <vector>

using namespace braid;
using namespace braid::test;

namespace {

std::string tokenHeader(uint64_t count, int width, uint64_t vocab, uint32_t version = 1) {
  return "BRAIDTOK" + littleEndian(version, 4) + littleEndian(width, 4) + littleEndian(count, 8) +
         littleEndian(vocab, 8) + std::string(32, '\0');
}

std::string refusal(const std::string &content, int64_t vocab) {
  ScratchDirectory scratch;
  try {
    TokenFile file(writeFile(scratch / "data", content), vocab);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

#define EXPECT_REFUSED(content, vocab, reason)                                                                         \
  EXPECT_NE(refusal(content, vocab).find(reason), std::string::npos) << refusal(content, vocab)

TEST(TokenFile, textIsBytes) {
  ScratchDirectory scratch;
  TokenFile file(writeFile(scratch / "t", "ab\xff"), 256);
  EXPECT_EQ(file.count(), 3);
  EXPECT_TRUE(file.isText());
  int32_t ids[2];
  file.read(1, 2, ids);
  EXPECT_EQ(ids[0], 'b');
  EXPECT_EQ(ids[1], 255);
}

TEST(TokenFile, binary) {
  for (int width : {2, 4}) {
    ScratchDirectory scratch;
    std::string data = tokenHeader(3, width, 60000);
    for (uint64_t id : {7, 59999, 1})
      data += littleEndian(id, width);
    TokenFile file(writeFile(scratch / "t", data), 60000);
    int32_t ids[3];
    file.read(0, 3, ids);
    EXPECT_EQ(file.count(), 3);
    EXPECT_EQ(ids[1], 59999);
  }
}

TEST(TokenFile, refusals) {
  EXPECT_REFUSED("", 256, "is empty");
  EXPECT_REFUSED("abc", 100, "vocabulary of 100");
  EXPECT_REFUSED(tokenHeader(0, 2, 10).substr(0, 20), 256, "fewer than its header");
  EXPECT_REFUSED(tokenHeader(0, 2, 10), 256, "holds no tokens");
  EXPECT_REFUSED(tokenHeader(1, 2, 10, 3) + "xx", 256, "has version 3");
  EXPECT_REFUSED(tokenHeader(1, 3, 10) + "xxx", 256, "3 bytes a token");
  EXPECT_REFUSED(tokenHeader(2, 2, 10) + "xx", 256, "claims 2 tokens of 2 bytes, but 2 bytes follow");
  EXPECT_REFUSED(tokenHeader(uint64_t{1} << 63, 2, 10) + "xx", 256, "claims 9223372036854775808 tokens");
}

TEST(TokenFile, idOutOfRangeNamesWhereAndWhat) {
  std::string data = tokenHeader(3, 2, 500) + littleEndian(1, 2) + littleEndian(300, 2) + littleEndian(2, 2);
  EXPECT_REFUSED(data, 300, "token 1 of '");
  EXPECT_REFUSED(data, 300, "(byte 66) is 300, but the model's vocabulary has 300");
  EXPECT_EQ(refusal(data, 301), "");
  std::string wide = tokenHeader(1, 4, 500) + littleEndian(0xffffffff, 4);
  EXPECT_REFUSED(wide, 300, "is 4294967295");
}

// Every token is a target, too, so the loss must have a class for it.
TEST(TokenFile, idsAreClasses) {
  br_model table = bigramModel();
  br_program program = table.programs[0];
  std::vector<br_io> ios(program.ios, program.ios + program.n_inputs);
  program.ios = ios.data(), program.n_results = 0;
  ScratchDirectory scratch;
  std::string data = tokenHeader(100, 2, 256) + littleEndian(200, 2);
  for (int i = 1; i < 100; ++i)
    data += littleEndian(i, 2);
  BatchOptions options{findData({writeFile(scratch / "data", data)}, DataFormat::Auto), 0.1, 1, true};
  auto open = [&](int64_t vocabulary, int64_t classes) {
    ios[0].extent = vocabulary, ios[1].extent = classes;
    Model model(table, 1);
    TokenBatches(model, options, &program, nullptr);
  };
  open(256, 256);
  open(0, 0); // the model's vocabulary
  open(256, 201);
  EXPECT_THROW(open(256, 200), Error);
  EXPECT_THROW(open(200, 256), Error);
}

TEST(TokenFile, missing) { EXPECT_THROW(TokenFile("/nonexistent/file", 256), Error); }

} // namespace
