//===- Tables.h - schedules for tests -------------------------------------===//
#ifndef BRAID_TEST_UNIT_PIPELINE_TABLES_H
#define BRAID_TEST_UNIT_PIPELINE_TABLES_H

#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Simulate.h"
#include "gtest/gtest.h"

namespace braid::pipeline {

/// A table that must be right as a text.
inline Table tableOf(llvm::StringRef csv) {
  llvm::Expected<Table> table = parseCsv(csv, "test.csv");
  if (table)
    return std::move(*table);
  ADD_FAILURE() << llvm::toString(table.takeError());
  return {};
}

/// A schedule that must be right.
inline Schedule scheduleOf(llvm::Expected<Schedule> schedule) {
  if (schedule)
    return std::move(*schedule);
  ADD_FAILURE() << llvm::toString(schedule.takeError());
  return {};
}

inline Schedule scheduleOf(llvm::StringRef name, unsigned ranks, unsigned microbatches, unsigned chunks = 1) {
  return scheduleOf(generate(*findGenerator(name), {ranks, microbatches, chunks}));
}

/// What verify says of a table that is wrong.
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

/// Every stage takes the same.
inline std::vector<StageTimes> uniform(const Schedule &schedule, StageTimes times = {}) {
  return std::vector<StageTimes>(schedule.numStages(), times);
}

} // namespace braid::pipeline

#endif // BRAID_TEST_UNIT_PIPELINE_TABLES_H
