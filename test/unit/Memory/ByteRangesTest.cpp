//===- ByteRangesTest.cpp - bytes covered and written ---------------------===//

#include "lib/Memory/ByteRanges.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace braid;

namespace {

struct ByteRangesTest : testing::Test {
  ByteRangesTest() { context.loadDialect<exec::ExecDialect>(); }
  exec::RefType ref(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
    return exec::RefType::get(&context, shape, mlir::Builder(&context).getF32Type(), strides);
  }
  mlir::MLIRContext context;
};

std::set<int64_t> bytesOf(const ByteRanges &ranges) {
  std::set<int64_t> bytes;
  ranges.forEachRun([&](int64_t at) {
    for (int64_t byte = at; byte < at + ranges.run; ++byte)
      bytes.insert(byte);
    return true;
  });
  return bytes;
}

TEST_F(ByteRangesTest, ContiguousDimsAreOneRun) {
  ByteRanges ranges(ref({2, 4, 8}, {32, 8, 1}), 64);
  EXPECT_TRUE(ranges.dims.empty());
  EXPECT_EQ(ranges.offset, 64);
  EXPECT_EQ(ranges.run, 256);
  EXPECT_EQ(ranges.end(), 320);
}

TEST_F(ByteRangesTest, RowsOfSeveralDimsWalkAsOne) {
  ByteRanges apart(ref({2, 4, 7}, {32, 8, 1}), 64);
  EXPECT_EQ(apart.dims.size(), 1u);
  EXPECT_TRUE(apart == ByteRanges(ref({8, 7}, {8, 1}), 64));
  EXPECT_FALSE(apart == ByteRanges(ref({8, 8}, {8, 1}), 64));
  EXPECT_EQ(bytesOf(apart).size(), 2u * 4 * 7 * 4);
}

TEST_F(ByteRangesTest, GapsBetweenRowsStayUnwritten) {
  ByteRanges rows(ref({8, 7}, {8, 1}), 0);
  WrittenBytes written;
  EXPECT_EQ(written.firstUnwritten(rows), 0);
  written.write(rows);
  EXPECT_EQ(written.firstUnwritten(rows), -1);
  EXPECT_EQ(written.firstUnwritten(ByteRanges(ref({8, 8}, {8, 1}), 0)), 28);
  written.write(ByteRanges(ref({8, 1}, {8, 1}), 28));
  EXPECT_EQ(written.firstUnwritten(ByteRanges(ref({64}, {1}), 0)), -1);
}

TEST_F(ByteRangesTest, OrderOfDimsAndRepetitionDoNotMatter) {
  EXPECT_EQ(ByteRanges(ref({4, 8}, {1, 4}), 0).run, 128);
  EXPECT_EQ(ByteRanges(ref({5, 8}, {0, 1}), 0).run, 32);
  EXPECT_EQ(ByteRanges(ref({}, {}), 12).end(), 16);
}

TEST_F(ByteRangesTest, InterleavedSlicesDoNotOverlap) {
  ByteRanges left(ref({4, 8}, {24, 1}), 0), middle(ref({4, 8}, {24, 1}), 32), wide(ref({4, 9}, {24, 1}), 0);
  EXPECT_FALSE(overlap(left, middle));
  EXPECT_TRUE(overlap(wide, middle));
  EXPECT_TRUE(overlap(left, wide));
}

TEST_F(ByteRangesTest, SlicesWrittenOneByOneMakeAWhole) {
  WrittenBytes written;
  ByteRanges whole(ref({4, 24}, {24, 1}), 0);
  for (int64_t slice : {0, 2, 1}) {
    EXPECT_GE(written.firstUnwritten(whole), 0);
    written.write(ByteRanges(ref({4, 8}, {24, 1}), slice * 32));
  }
  EXPECT_EQ(written.firstUnwritten(whole), -1);
}

TEST_F(ByteRangesTest, DimsThatAllWalkAlikeMayBeLong) {
  constexpr int64_t kRows = int64_t(1) << 40;
  auto slice = [&](int64_t from, int64_t size) { return ByteRanges(ref({kRows, 4, size}, {96, 24, 1}), from * 4); };
  ByteRanges left = slice(0, 8), middle = slice(8, 8), right = slice(16, 8), wide = slice(4, 8);
  ByteRanges whole(ref({kRows, 4, 24}, {96, 24, 1}), 0);
  EXPECT_FALSE(overlap(left, middle));
  EXPECT_TRUE(overlap(wide, middle));
  EXPECT_TRUE(overlap(whole, right));
  WrittenBytes written({left, middle, right, whole});
  written.write(left);
  written.write(right);
  EXPECT_EQ(written.firstUnwritten(whole), 32);
  EXPECT_EQ(written.firstUnwritten(left), -1);
  written.write(middle);
  EXPECT_EQ(written.firstUnwritten(whole), -1);
}

TEST_F(ByteRangesTest, RandomRangesAgreeWithSetsOfBytes) {
  std::mt19937_64 random(2);
  auto pick = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  auto make = [&] {
    llvm::SmallVector<int64_t> shape, strides;
    for (int64_t rank = pick(4); rank > 0; --rank) {
      shape.push_back(1 + pick(4));
      strides.push_back(pick(9));
    }
    return ByteRanges(ref(shape, strides), 4 * pick(10));
  };
  for (int round = 0; round < 2000; ++round) {
    ByteRanges a = make(), b = make();
    std::set<int64_t> bytesA = bytesOf(a), bytesB = bytesOf(b);
    EXPECT_EQ(a.end(), *bytesA.rbegin() + 1);
    bool common = llvm::any_of(bytesA, [&](int64_t byte) { return bytesB.count(byte); });
    EXPECT_EQ(overlap(a, b), common);
    WrittenBytes written, folded({a, b});
    written.write(a);
    folded.write(a);
    bool covered = llvm::all_of(bytesB, [&](int64_t byte) { return bytesA.count(byte); });
    EXPECT_EQ(written.firstUnwritten(b) == -1, covered);
    EXPECT_EQ(written.firstUnwritten(b), folded.firstUnwritten(b));
  }
}

TEST_F(ByteRangesTest, WhoWroteAByteAndWhetherItWasRead) {
  ByteRanges whole(ref({4, 8}, {8, 1}), 0), left(ref({4, 4}, {8, 1}), 0), right(ref({4, 4}, {8, 1}), 16);
  for (WrittenBytes written : {WrittenBytes(), WrittenBytes({whole, left, right})}) {
    auto isUnread = [](const WrittenBytes::Piece &piece) { return piece.writer >= 0 && !piece.isRead; };
    written.write(whole);
    EXPECT_FALSE(written.find(whole, isUnread));
    written.write(left, 7);
    auto found = written.find(whole, isUnread);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->writer, 7);
    EXPECT_EQ(found->begin, 0);
    EXPECT_EQ(found->end, 16);
    EXPECT_FALSE(written.find(right, isUnread));
    written.read(whole);
    EXPECT_FALSE(written.find(whole, isUnread));
    written.write(right, 8);
    EXPECT_TRUE(written.find(right, isUnread));
    EXPECT_FALSE(written.find(left, [](const WrittenBytes::Piece &piece) { return piece.writer != 7; }));
  }
}

TEST_F(ByteRangesTest, RandomWritesAndReadsAgreeWithBytes) {
  std::mt19937_64 random(3);
  auto pick = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    // Equal ranges have the same rows, which are walked once.
    llvm::SmallVector<ByteRanges> ranges;
    int64_t rows = 2 + pick(3);
    bool areAlike = pick(2);
    for (int number = 0; number < 4; ++number)
      ranges.push_back(
          ByteRanges(ref({areAlike ? rows : 1 + pick(4), 1 + pick(4)}, {8, 1}), 4 * pick(areAlike ? 5 : 9)));
    WrittenBytes written, folded(ranges);
    std::map<int64_t, std::pair<int64_t, bool>> bytes; // writer, and whether it was read
    for (int64_t step = 0; step < 20; ++step) {
      const ByteRanges &some = ranges[pick(4)];
      bool isWrite = pick(2);
      for (int64_t byte : bytesOf(some))
        if (isWrite)
          bytes[byte] = {step, false};
        else if (auto known = bytes.find(byte); known != bytes.end())
          known->second.second = true;
      for (WrittenBytes *each : {&written, &folded})
        isWrite ? each->write(some, step) : each->read(some);
    }
    for (const ByteRanges &some : ranges) {
      const std::set<int64_t> all = bytesOf(some);
      auto unwritten = llvm::find_if(all, [&](int64_t byte) { return !bytes.count(byte); });
      int64_t first = unwritten == all.end() ? -1 : *unwritten;
      EXPECT_EQ(written.firstUnwritten(some), first);
      EXPECT_EQ(folded.firstUnwritten(some) < 0, first < 0);
      for (int64_t writer = 0; writer < 20; ++writer)
        for (bool isRead : {false, true}) {
          bool expected = llvm::any_of(bytesOf(some), [&](int64_t byte) {
            auto known = bytes.find(byte);
            return known != bytes.end() && known->second == std::pair(writer, isRead);
          });
          auto is = [&](const WrittenBytes::Piece &piece) { return piece.writer == writer && piece.isRead == isRead; };
          EXPECT_EQ(written.find(some, is).has_value(), expected);
          EXPECT_EQ(folded.find(some, is).has_value(), expected);
        }
    }
  }
}

} // namespace
