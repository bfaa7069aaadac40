//===- InitializerTest.cpp - structs of tables, by the names of fields ----===//

#include "compiler/Codegen/Initializer.h"
#include <gtest/gtest.h>

using namespace braid::codegen;

TEST(Initializer, LeavesOutWhatAnAbsentFieldHolds) {
  Initializer row;
  row.always("offset", 0)
      .addUnlessZero("accumulate", 0)
      .addUnlessZero("init_a", "0.0")
      .addUnlessZero("copy_of", "nullptr");
  row.addUnlessZero("dims", std::vector<int64_t>{0, 0}).addUnlessZero("flat", 3).rows("pairs", "pairs_5", "n_pairs", 0);
  row.rows("segments", "segments_5", "n_segments", 2);
  EXPECT_EQ(row.text(), "{.offset = 0, .flat = 3, .segments = segments_5, .n_segments = 2}");
}

TEST(Initializer, BreaksLinesWhereToldAndBeforeTheColumnLimit) {
  Initializer row;
  row.always("m", 4).newLine().newLine().always("a", Initializer().always("type", "BR_F32").text());
  EXPECT_EQ(row.text(4), "{.m = 4,\n     .a = {.type = BR_F32}}");

  Initializer wide;
  for (const char *name : {"first", "second", "third"})
    wide.always(name, std::string(40, 'x'));
  std::string text = wide.text(4);
  EXPECT_EQ(text.find(".third"), text.find('\n') + 6);
  EXPECT_LE(text.find('\n') + 4, 120u);
}
