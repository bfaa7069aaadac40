//===- CsvTest.cpp - tables as PyTorch writes and reads them --------------===//

#include "lib/Pipeline/Csv.h"
#include "Tables.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

using namespace braid::pipeline;

static std::string refusal(llvm::StringRef text) {
  llvm::Expected<Table> table = parseCsv(text, "f.csv");
  return table ? "" : llvm::toString(table.takeError());
}

TEST(Csv, WhatIsWrittenIsRead) {
  for (const Generator *generator : generators()) {
    Schedule schedule = scheduleOf(generate(*generator, {4, 12, generator->defaultChunks}));
    std::string text = textOf(schedule.getTable());
    Table again = tableOf(text);
    EXPECT_EQ(again.numStages, schedule.numStages());
    EXPECT_EQ(again.numMicrobatches, 12u);
    EXPECT_EQ(textOf(again), text);
    EXPECT_EQ(errorOf(again), "");
  }
}

TEST(Csv, IdleCellsStay) {
  Table table = tableOf("0F0,,0I0,,,0W0");
  EXPECT_EQ(table.rows[0][2].step, 5u);
  EXPECT_EQ(textOf(table), "0F0,,0I0,,,0W0\n");
}

TEST(Csv, TakesWhatSpreadsheetsWrite) {
  EXPECT_EQ(textOf(tableOf("\xef\xbb\xbf\"0F0\", 0B0 ,\"\",\r\n1F0,\t1B0,,\r\n\r\n")), "0F0,0B0\n1F0,1B0\n");
  EXPECT_EQ(textOf(tableOf("00F000,0B0")), "0F0,0B0\n");
}

TEST(Csv, RefusesWhatFollowsFromTheTable) {
  EXPECT_EQ(refusal("0F0\n1F0,1SEND_B0"),
            "f.csv:2:5: '1SEND_B0' is a message: messages follow from the table, so leave "
            "them out (PyTorch's form 'compute_only')");
  EXPECT_EQ(refusal("0UNSHARD,0F0"),
            "f.csv:1:1: '0UNSHARD' is not an action of a stage: gathers and reductions are placed by "
            "the compiler, so leave them out");
  EXPECT_EQ(refusal("0F0,(0F1;1B0)OVERLAP_F_B"),
            "f.csv:1:5: '(0F1;1B0)OVERLAP_F_B' combines several actions in one cell: "
            "give each action its own cell");
}

TEST(Csv, RefusesWhatIsNoCell) {
  for (llvm::StringRef cell : {"F0", "0F", "0X0", "0f0", "0F0x", "0FB0", "-1F0", "0F-1", "0 F0", "x", "0F0 0F1", "F"}) {
    std::string text = refusal(("0F0, " + cell).str());
    EXPECT_EQ(text.substr(0, 11), "f.csv:1:6: ") << text;
    EXPECT_NE(text.find("is not a cell: write the stage, F, B, I or W, and the microbatch, as in 0F3"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(refusal(std::string("0F0\n\x01\n")).substr(0, 18), "f.csv:2:1: '\\01' i");
  EXPECT_LT(refusal(std::string(1 << 20, 'x')).size(), 200u);
}

TEST(Csv, RefusesEmptyLinesAndFiles) {
  EXPECT_EQ(refusal(" \n"), "f.csv:1:1: the file has no cells");
  EXPECT_EQ(refusal("0F0\n,,\n1F0"),
            "f.csv:2:1: the line has no cells: each line is a rank, which needs at least one stage");
}

TEST(Csv, RefusesNumbersThatAreTooLarge) {
  EXPECT_EQ(refusal("99999999999999999999F0"), "f.csv:1:1: '99999999999999999999F0' has a number above 1048575");
  EXPECT_EQ(refusal("0F1048576"), "f.csv:1:1: '0F1048576' has a number above 1048575");
  EXPECT_EQ(refusal("1F1048575"),
            "1048576 microbatches for 2 stages are too many: a schedule has at most 1048576 pairs "
            "of a stage and a microbatch");
}

TEST(Csv, DamagedTextIsRefusedOrASchedule) {
  std::mt19937 random(3);
  std::string good = textOf(scheduleOf("zb-v", 3, 6, 2).getTable());
  const std::string bytes = "0123456789,FBIW\n\r\"( x";
  unsigned schedules = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (unsigned i = 0; i <= random() % 3; ++i)
      text[random() % text.size()] = bytes[random() % bytes.size()];
    llvm::Expected<Table> table = parseCsv(text, "f.csv");
    llvm::Expected<Schedule> schedule = table ? verify(std::move(*table)) : table.takeError();
    if (!schedule) {
      EXPECT_NE(llvm::toString(schedule.takeError()), "");
      continue;
    }
    ++schedules;
    EXPECT_EQ(llvm::toString(verify(*schedule, planMessages(*schedule, simulate(*schedule, uniform(*schedule))))), "")
        << text;
  }
  EXPECT_GT(schedules, 20u);
}

TEST(Csv, NamesTheFileThatItCannotRead) {
  EXPECT_EQ(llvm::toString(readCsv("/no/such.csv").takeError()), "/no/such.csv: No such file or directory");
}
