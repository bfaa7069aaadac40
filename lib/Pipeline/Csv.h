//===- Csv.h - tables in PyTorch's CSV format -------------------*- C++ -*-===//
//
// Each line is a rank. Each cell is STAGE, action and MICROBATCH, as in 0F3; an empty cell is
// idle. This is the form `compute_only` of PyTorch's schedules, which `_load_csv` reads. The form
// `compute_comms` also has messages. It is only written, because messages follow from the table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_CSV_H
#define BRAID_LIB_PIPELINE_CSV_H

#include "lib/Pipeline/Messages.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::pipeline {

/// Parses a table without verifying it. Errors name `file`, line and column.
llvm::Expected<Table> parseCsv(llvm::StringRef text, llvm::StringRef file);
/// Reads and parses a file.
llvm::Expected<Table> readCsv(llvm::StringRef file);

void writeCsv(const Table &table, llvm::raw_ostream &os);
/// Writes the table with a cell for each started send and receive, and without idle cells.
void writeCsv(const Schedule &schedule, const MessagePlan &plan, llvm::raw_ostream &os);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_CSV_H
