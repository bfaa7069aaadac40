//===- MatmulShapeTest.cpp - einsums as GEMMs -----------------------------===//

#include "lib/Target/MatmulShape.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace braid;

namespace {
class MatmulShapeTest : public testing::Test {
protected:
  MatmulShapeTest() { context.loadDialect<exec::ExecDialect>(); }
  exec::RefType ref(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
    return exec::RefType::get(&context, shape, Float32Type::get(&context), strides);
  }
  exec::RefType whole(ArrayRef<int64_t> shape) {
    return exec::RefType::contiguous(RankedTensorType::get(shape, Float32Type::get(&context)));
  }
  tg::ContractionAttr einsum(StringRef spec) { return tg::ContractionAttr::get(&context, spec); }
  MLIRContext context;
};
} // namespace

TEST_F(MatmulShapeTest, LinearLayerCollapsesRows) {
  auto shape = matmulShape(einsum("bsd,fd->bsf"), whole({2, 4, 8}), whole({16, 8}), whole({2, 4, 16}));
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(shape->m, 8);
  EXPECT_EQ(shape->n, 16);
  EXPECT_EQ(shape->k, 8);
  EXPECT_FALSE(shape->swapped);
  EXPECT_TRUE(shape->batch.empty() && shape->outer.empty());
  EXPECT_EQ(shape->lhsM, 8);
  EXPECT_EQ(shape->lhsK, 1);
  EXPECT_EQ(shape->rhsK, 1);
  EXPECT_EQ(shape->rhsN, 8);
  EXPECT_EQ(shape->outM, 16);
}

TEST_F(MatmulShapeTest, WeightGradientCollapsesTheBatchIntoK) {
  auto shape = matmulShape(einsum("bsd,bsf->fd"), whole({2, 4, 8}), whole({2, 4, 16}), whole({16, 8}));
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(shape->k, 8);
  EXPECT_TRUE(shape->outer.empty());
  // The unit stride of the result is d, a letter of the left operand.
  EXPECT_TRUE(shape->swapped);
  EXPECT_EQ(shape->m, 16);
  EXPECT_EQ(shape->n, 8);
}

TEST_F(MatmulShapeTest, AttentionLoopsOverHeads) {
  // q and k are slices of one b x s x 3 h d tensor.
  auto slice = ref({2, 4, 3, 5}, {4 * 45, 45, 5, 1});
  auto shape = matmulShape(einsum("bshd,bthd->bhst"), slice, slice, whole({2, 3, 4, 4}));
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(shape->m, 4);
  EXPECT_EQ(shape->n, 4);
  EXPECT_EQ(shape->k, 5);
  ASSERT_EQ(shape->batch.size(), 2u);
  EXPECT_EQ(shape->batch[0].size * shape->batch[1].size, 6);
  EXPECT_EQ(shape->lhsM, 45);
}

TEST_F(MatmulShapeTest, ContractionDimsThatDoNotCollapseAreOuterLoops) {
  // The columns are a slice, so rows and columns are no single k.
  auto lhs = ref({2, 4, 8}, {4 * 24, 24, 1}), rhs = ref({2, 16, 8}, {16 * 8, 8, 1});
  auto shape = matmulShape(einsum("bmk,bnk->mn"), lhs, rhs, whole({4, 16}));
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(shape->k, 8);
  ASSERT_EQ(shape->outer.size(), 1u);
  EXPECT_EQ(shape->outer[0].size, 2);
}

TEST_F(MatmulShapeTest, VectorsAreMatricesOfOneRow) {
  auto shape = matmulShape(einsum("d,fd->f"), whole({8}), whole({16, 8}), whole({16}));
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(shape->m * shape->n, 16);
  EXPECT_EQ(shape->outN, 1);
}

TEST_F(MatmulShapeTest, RefusesWithAReason) {
  std::string reason;
  EXPECT_TRUE(failed(matmulShape(einsum("md,nd->mn"), ref({4, 8}, {16, 2}), whole({5, 8}), whole({4, 5}), &reason)));
  EXPECT_NE(reason.find("unit stride"), std::string::npos);
  // A repeated dim is no dim of a matrix.
  EXPECT_TRUE(failed(matmulShape(einsum("md,nd->mn"), ref({4, 8}, {0, 1}), whole({5, 8}), whole({4, 5}))));
  // The result's unit stride is a batch dim.
  EXPECT_TRUE(failed(matmulShape(einsum("bmk,bnk->mnb"), whole({3, 4, 8}), whole({3, 5, 8}), whole({4, 5, 3}))));
}
