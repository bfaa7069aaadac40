//===- PackedRowsTest.cpp - documents side by side in rows ----------------===//

#include "data/PackedRows.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace braid;

namespace {

using Numbers = std::vector<int64_t>;

Numbers boundsOf(const Numbers &documents, int64_t begin, int64_t end, int64_t length) {
  PackedRows rows(documents, begin, end, length);
  Numbers bounds;
  for (int64_t row = 0; row <= rows.count(); ++row)
    bounds.push_back(rows.first(row));
  return bounds;
}

TEST(PackedRows, asManyAsFit) {
  EXPECT_EQ(boundsOf({0, 3, 6, 8}, 0, 16, 8), (Numbers{0, 8, 16}));
  EXPECT_EQ(boundsOf({0, 3, 6, 8}, 0, 17, 8), (Numbers{0, 8, 16, 17}));
  EXPECT_EQ(boundsOf({0, 5, 10, 15}, 0, 20, 8), (Numbers{0, 5, 10, 15, 20}));
  EXPECT_EQ(boundsOf({0}, 0, 8, 8), (Numbers{0, 8}));
}

// A document that is too long begins a new row. Its end shares a row with the documents behind it.
TEST(PackedRows, longDocumentsAreCut) {
  EXPECT_EQ(boundsOf({0, 2, 22, 24, 30}, 0, 32, 8), (Numbers{0, 2, 10, 18, 24, 32}));
}

TEST(PackedRows, ofAPart) {
  EXPECT_EQ(boundsOf({0, 3, 6, 9, 12}, 6, 12, 8), (Numbers{6, 12}));
  EXPECT_EQ(boundsOf({0, 3, 6, 9, 12}, 4, 10, 4), (Numbers{4, 6, 10}));
  EXPECT_EQ(boundsOf({5, 9}, 0, 10, 4), (Numbers{0, 4, 5, 9, 10})); // what is in front of the first is one, too
  EXPECT_EQ(boundsOf({0, 3}, 3, 3, 4), (Numbers{3}));
}

TEST(PackedRows, holdEverythingAndCutOnlyWhatIsTooLong) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int64_t length = 1 + random() % 12;
    Numbers documents;
    int64_t end = 0;
    for (int i = 0; i < 30; ++i) {
      documents.push_back(end);
      end += 1 + random() % 20;
    }
    const Numbers bounds = boundsOf(documents, 0, end, length);
    ASSERT_EQ(bounds.front(), 0);
    ASSERT_EQ(bounds.back(), end);
    for (size_t row = 0; row + 1 < bounds.size(); ++row) {
      ASSERT_GT(bounds[row + 1], bounds[row]);
      ASSERT_LE(bounds[row + 1] - bounds[row], length);
      auto next = std::upper_bound(documents.begin(), documents.end(), bounds[row + 1]);
      const int64_t documentBegin = *std::prev(next), documentEnd = next == documents.end() ? end : *next;
      const bool isCut = bounds[row + 1] != end && bounds[row + 1] != documentBegin;
      ASSERT_TRUE(!isCut || documentEnd - documentBegin > length);
    }
  }
}

} // namespace
