//===- SafetensorsTest.cpp - hostile and broken files ---------------------===//

#include "base/Safetensors.h"
#include "TestFiles.h"
#include "base/Error.h"

#include <gtest/gtest.h>

using namespace braid;
using namespace braid::test;

namespace {

// Returns the message for opening a file with this content; empty if it is accepted.
std::string refusal(const std::string &content) {
  ScratchDirectory scratch;
  try {
    SafetensorsFile file(writeFile(scratch / "x.safetensors", content));
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

#define EXPECT_REFUSED(content, reason) EXPECT_NE(refusal(content).find(reason), std::string::npos) << refusal(content)

const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
const std::string eight(8, 'x');

TEST(Safetensors, readsWhatIsRight) {
  ScratchDirectory scratch;
  std::string header =
      "{\"__metadata__\":{\"step\":\"3\"}," + a + R"(,"b":{"dtype":"I32","shape":[],"data_offsets":[8,12]}})";
  SafetensorsFile file(writeFile(scratch / "x", safetensors(header, eight + "1234")));
  EXPECT_EQ(file.metadata().at("step"), "3");
  ASSERT_EQ(file.entries().size(), 2u);
  char text[4];
  file.read(*file.find("b"), 0, text, 4);
  EXPECT_EQ(std::string(text, 4), "1234");
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, lengths) {
  EXPECT_REFUSED("", "it has 0 bytes");
  EXPECT_REFUSED("1234567", "it has 7 bytes");
  EXPECT_REFUSED(littleEndian(100, 8) + "{}", "its header claims 100 bytes, but only 2 follow");
  EXPECT_REFUSED(littleEndian(~uint64_t{0}, 8) + "{}", "truncated or corrupt");
  EXPECT_REFUSED(safetensors("{" + a + "}", "1234"), "is at bytes [0, 8) of 4 bytes");
  EXPECT_REFUSED(safetensors("{" + a + "}", eight + "1"), "end at byte 8 of 9");
}

TEST(Safetensors, hugeHeader) { EXPECT_REFUSED(safetensors(std::string(33 << 20, ' '), ""), "above the limit"); }

TEST(Safetensors, json) {
  EXPECT_REFUSED(safetensors("{", ""), "not valid JSON");
  EXPECT_REFUSED(safetensors("[]", ""), "not a JSON object");
  EXPECT_REFUSED(safetensors(std::string("\xff\xfe{}", 4), ""), "not valid JSON");
  EXPECT_REFUSED(safetensors("{\"a\":" + std::string(100000, '[') + "1" + std::string(100000, ']') + "}", ""),
                 "nests too deeply");
  EXPECT_REFUSED(safetensors("{" + a + "," + a + "}", eight), "'a' occurs twice");
  EXPECT_REFUSED(safetensors(R"({"__metadata__":{"x":1}})", ""), "holds 'x', which is not a string");
  EXPECT_REFUSED(safetensors(R"({"__metadata__":[]})", ""), "__metadata__ is not an object");
}

TEST(Safetensors, entries) {
  auto one = [](const std::string &entry) { return safetensors("{\"a\":" + entry + "}", eight); };
  EXPECT_REFUSED(one("7"), "lacks dtype");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2]})"), "lacks dtype");
  EXPECT_REFUSED(one(R"({"dtype":"F31","shape":[2],"data_offsets":[0,8]})"), "unknown type 'F31'");
  EXPECT_REFUSED(one(R"({"dtype":5,"shape":[2],"data_offsets":[0,8]})"), "malformed");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "malformed");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2.5],"data_offsets":[0,8]})"), "malformed");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), "malformed");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "malformed");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "at bytes [8, 0)");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,80]})"), "at bytes [0, 80)");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), "needs 12 bytes but is given 8");
  EXPECT_REFUSED(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551617]})"), "malformed");
}

TEST(Safetensors, overflowingShapes) {
  EXPECT_REFUSED(safetensors(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", ""),
                 "overflows");
  EXPECT_REFUSED(safetensors(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "1234"),
                 "overflows");
}

TEST(Safetensors, overlapsAndGaps) {
  auto two = [](const std::string &offsets) {
    return "{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}}";
  };
  EXPECT_REFUSED(safetensors(two("[4,12]"), eight + "1234"), "'a' and 'b' overlap at byte 4");
  EXPECT_REFUSED(safetensors(two("[12,20]"), eight + eight + "1234"), "bytes [8, 12) belong to no tensor");
  EXPECT_EQ(refusal(safetensors(two("[8,16]"), eight + eight)), "");
}

TEST(Safetensors, missingFileAndDirectory) {
  EXPECT_THROW(SafetensorsFile("/nonexistent/x"), Error);
  EXPECT_THROW(SafetensorsFile("/tmp"), Error);
}

} // namespace
