//===- PyTorchTest.cpp - tables that PyTorch wrote ------------------------===//
//
// Compares with tables of PyTorch, which test/goldens/make_pipelines.py made.
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "lib/Pipeline/Messages.h"
#include "lib/Pipeline/Slots.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;

static Table golden(llvm::StringRef name) {
  llvm::Expected<Table> table = readCsv((BRAID_GOLDENS "/pipelines/" + name + ".csv").str());
  if (table)
    return std::move(*table);
  ADD_FAILURE() << llvm::toString(table.takeError());
  return {};
}

/// A table without idle cells.
static std::string orderOf(Table table) {
  for (Table::Row &row : table.rows)
    for (unsigned index = 0; index < row.size(); ++index)
      row[index].step = index;
  return textOf(table);
}

TEST(PyTorch, HasTheSameOrders) {
  struct Case {
    const char *file, *name;
    Shape shape;
  };
  for (const auto &[file, name, shape] :
       {Case{"gpipe-1x2", "gpipe", {1, 2, 1}}, Case{"gpipe-3x2", "gpipe", {3, 2, 1}},
        Case{"gpipe-4x6", "gpipe", {4, 6, 1}}, Case{"1f1b-2x2", "1f1b", {2, 2, 1}}, Case{"1f1b-3x5", "1f1b", {3, 5, 1}},
        Case{"1f1b-4x8", "1f1b", {4, 8, 1}}, Case{"interleaved-2x6", "interleaved", {2, 6, 2}},
        Case{"interleaved-4x4", "interleaved", {4, 4, 2}}, Case{"interleaved-4x8", "interleaved", {4, 8, 2}},
        Case{"interleaved-3-2x4", "interleaved", {2, 4, 3}}, Case{"interleaved-3-3x6", "interleaved", {3, 6, 3}},
        Case{"zb-h1-2x3", "zb-h1", {2, 3, 1}}, Case{"zb-h1-4x8", "zb-h1", {4, 8, 1}},
        Case{"zb-h1-5x6", "zb-h1", {5, 6, 1}}, Case{"zb-v-2x2", "zb-v", {2, 2, 2}}, Case{"zb-v-3x6", "zb-v", {3, 6, 2}},
        Case{"zb-v-4x8", "zb-v", {4, 8, 2}}}) {
    SCOPED_TRACE(file);
    Table theirs = golden(file);
    EXPECT_EQ(errorOf(theirs), "");
    EXPECT_EQ(orderOf(theirs), orderOf(scheduleOf(generate(*findGenerator(name), shape)).getTable()));
  }
}

TEST(PyTorch, OtherSchedulesAreTaken) {
  // Breadth first: as idle as interleaved 1F1B, but all microbatches are held.
  Schedule bfs = scheduleOf(verify(golden("looped-bfs-3x4")));
  EXPECT_DOUBLE_EQ(simulate(bfs, uniform(bfs)).bubble, 2.0 / (2 * 4 + 2));
  EXPECT_EQ(peakHeldMicrobatches(bfs), (std::vector<unsigned>{8, 8, 8}));

  Schedule zero = scheduleOf(verify(golden("interleaved-zero-bubble-3x6")));
  EXPECT_EQ(llvm::toString(verify(zero, planMessages(zero, simulate(zero, uniform(zero))))), "");
  EXPECT_LT(simulate(zero, uniform(zero)).bubble, interleaved().formulas({3, 6, 2}).bubble.value());
}

TEST(PyTorch, CellsOfSeveralActionsAreRefused) {
  llvm::Expected<Table> table = readCsv(BRAID_GOLDENS "/pipelines/dual-pipe-v-2x5.csv");
  ASSERT_FALSE(table);
  std::string text = llvm::toString(table.takeError());
  EXPECT_NE(text.find(".csv:1:29: '(0F3;3B1)OVERLAP_F_B' combines several actions in one cell"), std::string::npos)
      << text;
}
