//===- SafetensorsTest.cpp - good files and bad ones ----------------------===//

#include "lib/Reference/Safetensors.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include <gtest/gtest.h>

using namespace braid::reference;

namespace {
struct SafetensorsTest : testing::Test {
  SafetensorsTest() {
    llvm::SmallString<64> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("braid", "safetensors", name));
    path = name.str().str();
  }
  ~SafetensorsTest() override { llvm::sys::fs::remove(path); }

  /// Reads a file of this header and data. Returns the error message, or an empty text.
  std::string errorOf(llvm::StringRef header, llvm::StringRef data) {
    std::string length(8, '\0');
    for (int i = 0; i < 8; ++i)
      length[i] = static_cast<char>(header.size() >> (8 * i));
    return errorOfBytes(length + header.str() + data.str());
  }
  std::string errorOfBytes(const std::string &bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
    auto values = readSafetensors(path, &context);
    return values ? "" : llvm::toString(values.takeError());
  }

  mlir::MLIRContext context;
  mlir::Builder builder{&context};
  std::string path;
};
} // namespace

TEST_F(SafetensorsTest, ReadsWhatItWrote) {
  Values values;
  Tensor floats({2, 2}, builder.getF32Type()), ints({3}, builder.getI64Type()), scalar({}, builder.getBF16Type());
  floats.f(3) = 0.5;
  ints.n(2) = -7;
  scalar.f(0) = 1.5;
  values = {{"a.weight", floats}, {"ints", ints}, {"scalar", scalar}};
  ASSERT_FALSE(static_cast<bool>(writeSafetensors(path, values)));
  auto read = readSafetensors(path, &context);
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(read->at("a.weight").shape, floats.shape);
  EXPECT_EQ(read->at("a.weight").f(3), 0.5);
  EXPECT_EQ(read->at("ints").n(2), -7);
  EXPECT_EQ(read->at("scalar").f(0), 1.5);
}

TEST_F(SafetensorsTest, RefusesBadFiles) {
  const char *good = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(errorOf(good, "12345678"), "");
  EXPECT_NE(errorOf(good, "1234567"), "");
  EXPECT_NE(errorOfBytes("short"), "");
  EXPECT_NE(errorOfBytes(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + good), "");
  EXPECT_NE(errorOf("not json", ""), "");
  EXPECT_NE(errorOf("[]", ""), "");
  EXPECT_NE(errorOf(R"({"x":3})", ""), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F7","shape":[],"data_offsets":[0,4]}})", "1234"), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "12345678"), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", "12345678"), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "12345678"), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})", "12345678"), "");
  EXPECT_NE(errorOf(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "12345678"), "");
}
