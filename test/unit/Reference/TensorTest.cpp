//===- TensorTest.cpp - rounding, indices, printing -----------------------===//

#include "lib/Reference/Tensor.h"
#include "lib/Reference/Compare.h"
#include "mlir/IR/Builders.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace braid::reference;

namespace {
struct TensorTest : testing::Test {
  mlir::MLIRContext context;
  mlir::Builder builder{&context};

  Tensor vectorOf(std::initializer_list<double> values) {
    Tensor tensor({static_cast<int64_t>(values.size())}, builder.getF32Type());
    std::transform(values.begin(), values.end(), tensor.elements.begin(), ofFloat);
    return tensor;
  }
};
} // namespace

TEST_F(TensorTest, Bf16RoundsToNearestEven) {
  mlir::Type bf16 = builder.getBF16Type();
  EXPECT_EQ(roundTo(bf16, 1.0), 1.0);
  // Between 1 and 1 + 2^-7: the tie goes to the even 1, more goes up.
  EXPECT_EQ(roundTo(bf16, 1 + 0x1p-8), 1.0);
  EXPECT_EQ(roundTo(bf16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(bf16, 1 + 3 * 0x1p-8 - 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(bf16, -1 - 0x1p-8 - 0x1p-40), -1 - 0x1p-7);
  EXPECT_TRUE(std::isinf(roundTo(bf16, 3.4e38)));
  EXPECT_TRUE(std::isnan(roundTo(bf16, NAN)));
}

TEST_F(TensorTest, IntsWrap) {
  EXPECT_EQ(wrapTo(builder.getI32Type(), 0x80000000ll), -0x80000000ll);
  EXPECT_EQ(wrapTo(builder.getI1Type(), -1), 1);
  EXPECT_EQ(wrapTo(builder.getI64Type(), -5), -5);
}

TEST_F(TensorTest, IndicesAreRowMajor) {
  std::vector<std::string> seen;
  forEachIndex({2, 2}, [&](llvm::ArrayRef<int64_t> index) { seen.push_back(indexText(index)); });
  EXPECT_EQ(seen, (std::vector<std::string>{"[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"}));
  int64_t visits = 0;
  forEachIndex({}, [&](llvm::ArrayRef<int64_t>) { ++visits; });
  EXPECT_EQ(visits, 1);
  forEachIndex({3, 0}, [&](llvm::ArrayRef<int64_t>) { ++visits; });
  EXPECT_EQ(visits, 1);
}

TEST_F(TensorTest, ComparesRelativeToTheGreatest) {
  Tensor expected = vectorOf({100, 1});
  EXPECT_EQ(difference(expected, vectorOf({100, 1.0009}), {1e-5, 0}), "");
  EXPECT_NE(difference(expected, vectorOf({100, 1.002}), {1e-5, 0}), "");
  EXPECT_NE(difference(expected, vectorOf({100}), {1e-5, 0}), "");
}

TEST_F(TensorTest, NaNIsNoAnswer) {
  EXPECT_NE(difference(vectorOf({NAN}), vectorOf({NAN}), {1, 1}), "");
  EXPECT_NE(difference(vectorOf({1}), vectorOf({NAN}), {1, 1}), "");
  EXPECT_EQ(difference(vectorOf({INFINITY}), vectorOf({INFINITY}), {0, 0}), "");
  EXPECT_NE(difference(vectorOf({1}), vectorOf({INFINITY}), {1e-5, 0}), "");
}

TEST_F(TensorTest, PrintsNestedLists) {
  Tensor tensor = vectorOf({1, 2.5, -3, 1e-9}).reshaped({2, 2});
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensor(os, "y", tensor, 4);
  printTensor(os, "y", tensor, 3);
  EXPECT_EQ(text, "y: tensor<2x2xf32> = [[1, 2.5], [-3, 1e-09]]\n"
                  "y: tensor<2x2xf32> = 4 elements, norm 4.03113, sum 0.5\n");
}
