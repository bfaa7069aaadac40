//===- LeadingDimPaddingTest.cpp - how far rows are padded ----------------===//

#include "lib/Memory/LeadingDimPadding.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace braid;

namespace {

struct LeadingDimPaddingTest : testing::Test {
  mlir::MLIRContext context;
  mlir::Builder builder{&context};

  /// Strides and bytes of padding as text; "" if rows are not padded.
  std::string strides(llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t alignment) {
    auto type = mlir::RankedTensorType::get(shape, element);
    std::optional<Layout> layout = paddedLayout(type, alignment);
    std::string text;
    if (!layout)
      return text;
    for (int64_t stride : layout->strides)
      text += std::to_string(stride) + " ";
    return text + "+" + std::to_string(paddingBytes(type, *layout));
  }
};

TEST_F(LeadingDimPaddingTest, RowsBeginAtMultiplesOfTheAlignment) {
  EXPECT_EQ(strides({8192, 50257}, builder.getBF16Type(), 128), "50304 1 +770048");
  EXPECT_EQ(strides({8, 1024, 50257}, builder.getBF16Type(), 128), "51511296 50304 1 +770048");
  EXPECT_EQ(strides({4, 50257}, builder.getF32Type(), 128), "50272 1 +240");
  EXPECT_EQ(strides({4, 50257}, builder.getBF16Type(), 16), "50264 1 +56");
}

TEST_F(LeadingDimPaddingTest, PaddingIsAtMostASixteenth) {
  // 514 bytes: 640 and 576 are too many, 544 is not.
  EXPECT_EQ(strides({4, 257}, builder.getBF16Type(), 128), "272 1 +120");
  EXPECT_EQ(strides({4, 31}, builder.getF32Type(), 128), "32 1 +16");
  EXPECT_EQ(strides({4, 33}, builder.getF32Type(), 128), "");
  EXPECT_EQ(strides({4, 7}, builder.getF32Type(), 128), "");
}

TEST_F(LeadingDimPaddingTest, SomeRowsNeedNoPadding) {
  EXPECT_EQ(strides({8192, 768}, builder.getBF16Type(), 128), "");
  EXPECT_EQ(strides({4, 1004}, builder.getF32Type(), 128), ""); // a multiple of 16 bytes
  EXPECT_EQ(strides({1, 1, 50257}, builder.getBF16Type(), 128), "");
  EXPECT_EQ(strides({50257}, builder.getBF16Type(), 128), "");
  EXPECT_EQ(strides({8192, 50257}, builder.getBF16Type(), 0), "");
}

// Views of other shapes give such dims the same strides, so that the same rows are the same
// reference.
TEST_F(LeadingDimPaddingTest, DimsOfSizeOneHaveContiguousStrides) {
  EXPECT_EQ(strides({1, 4, 1001}, builder.getF32Type(), 128), "4004 1024 1 +368");
  Layout rows = *paddedLayout(mlir::RankedTensorType::get({4, 1001}, builder.getF32Type()), 128);
  std::optional<Layout> view = composeView({4, 1001}, rows, {1, 4, 1001}, 0, {4004, 1001, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ(llvm::ArrayRef<int64_t>(view->strides), llvm::ArrayRef<int64_t>({4004, 1024, 1}));
}

} // namespace
