//===- ArenaTest.cpp - bytes, poison, what was written --------------------===//

#include "lib/Reference/Arena.h"
#include "mlir/IR/Builders.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace braid;
using namespace braid::reference;

namespace {
struct ArenaTest : testing::Test {
  ArenaTest() { context.loadDialect<exec::ExecDialect>(); }

  exec::RefType ref(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, mlir::Type type) {
    return exec::RefType::get(&context, shape, type, strides);
  }
  static Tensor counting(llvm::ArrayRef<int64_t> shape, mlir::Type type) {
    Tensor tensor(shape, type);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor[i] = isFloat(type) ? ofFloat(i + 1) : ofInt(i % 2);
    return tensor;
  }

  mlir::MLIRContext context;
  mlir::Builder builder{&context};
};
} // namespace

TEST_F(ArenaTest, ReadsWhatWasWritten) {
  for (mlir::Type type :
       std::initializer_list<mlir::Type>{builder.getF64Type(), builder.getF32Type(), builder.getBF16Type(),
                                         builder.getI64Type(), builder.getI32Type(), builder.getI1Type()}) {
    Arena arena(256);
    Place place{64, ref({2, 3}, {4, 1}, type), 7};
    Tensor tensor = counting({2, 3}, type);
    EXPECT_EQ(arena.findForeignElement(place)->index, (Index{0, 0}));
    EXPECT_EQ(arena.findForeignElement(place)->owner, Arena::kNoOwner);
    arena.write(place, tensor);
    EXPECT_FALSE(arena.findForeignElement(place));
    Tensor read = arena.read(place);
    for (int64_t i = 0; i < tensor.size(); ++i)
      EXPECT_EQ(read.n(i), tensor.n(i));
  }
}

TEST_F(ArenaTest, PoisonIsNaNAndHugeInts) {
  Arena arena(64);
  for (mlir::Type type :
       std::initializer_list<mlir::Type>{builder.getF64Type(), builder.getF32Type(), builder.getBF16Type()})
    EXPECT_TRUE(std::isnan(arena.read({0, ref({1}, {1}, type)}).f(0)));
  EXPECT_GT(arena.read({0, ref({1}, {1}, builder.getI32Type())}).n(0), 1 << 30);
}

TEST_F(ArenaTest, GapsOfStridesStayUnwritten) {
  Arena arena(64);
  mlir::Type f32 = builder.getF32Type();
  arena.write({0, ref({2, 2}, {4, 1}, f32)}, counting({2, 2}, f32));
  EXPECT_EQ(arena.findForeignElement({0, ref({2, 3}, {4, 1}, f32)})->index, (Index{0, 2}));
  arena.poison(16, 4);
  EXPECT_EQ(arena.findForeignElement({0, ref({2, 2}, {4, 1}, f32)})->index, (Index{1, 0}));
}

TEST_F(ArenaTest, KnowsThroughWhichBufferAByteWasWritten) {
  Arena arena(64);
  exec::RefType two = ref({2}, {1}, builder.getF32Type());
  arena.write({0, two, 1}, counting({2}, builder.getF32Type()));
  arena.write({4, two, 2}, counting({2}, builder.getF32Type()));
  EXPECT_EQ(arena.findForeignElement({0, two, 1})->index, (Index{1}));
  EXPECT_EQ(arena.findForeignElement({0, two, 1})->owner, 2);
  EXPECT_FALSE(arena.findForeignElement({4, two, 2}));
}

TEST_F(ArenaTest, InterleavedPlacesDoNotOverlap) {
  mlir::Type f32 = builder.getF32Type();
  Place left{0, ref({4, 2}, {4, 1}, f32)}, right{8, ref({4, 2}, {4, 1}, f32)}, whole{0, ref({4, 4}, {4, 1}, f32)};
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, whole));
  EXPECT_TRUE(overlap(right, whole));
  EXPECT_FALSE(overlap(left, {64, ref({1}, {1}, f32)}));
}
