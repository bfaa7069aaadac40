//===- Tables.h - schedules for tests -------------------------------------===//
#ifndef BRAID_TEST_UNIT_PIPELINE_TABLES_H
#define BRAID_TEST_UNIT_PIPELINE_TABLES_H

#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Simulate.h"
#include "gtest/gtest.h"

namespace braid::pipeline {

/// Parses a table whose text must be valid.
inline Table tableOf(llvm::StringRef csv) {
  llvm::Expected<Table> table = parseCsv(csv, "test.csv");
  if (table)
    return std::move(*table);
  ADD_FAILURE() << llvm::toString(table.takeError());
  return {};
}

/// Makes a schedule from a table that must be valid.
inline Schedule scheduleOf(llvm::Expected<Schedule> schedule) {
  if (schedule)
    return std::move(*schedule);
  ADD_FAILURE() << llvm::toString(schedule.takeError());
  return {};
}

inline Schedule scheduleOf(llvm::StringRef name, unsigned ranks, unsigned microbatches, unsigned chunks = 1) {
  return scheduleOf(generate(*findGenerator(name), {ranks, microbatches, chunks}));
}

/// Returns the verifier's message for an invalid table.
inline std::string errorOf(Table table, HeldLimit limit = {}) {
  llvm::Expected<Schedule> schedule = verify(std::move(table), limit);
  return schedule ? "" : llvm::toString(schedule.takeError());
}

inline std::string textOf(const Table &table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeCsv(table, os);
  return text;
}

/// Times with all stages equal.
inline std::vector<StageTimes> uniform(const Schedule &schedule, StageTimes times = {}) {
  return std::vector<StageTimes>(schedule.numStages(), times);
}

} // namespace braid::pipeline

#endif // BRAID_TEST_UNIT_PIPELINE_TABLES_H
