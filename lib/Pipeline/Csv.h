//===- Csv.h - tables as PyTorch writes and reads them ----------*- C++ -*-===//
//
// A line is a rank, a cell STAGE, action and MICROBATCH, as in 0F3; an empty cell is idle.
// That is the form `compute_only` of PyTorch's schedules, whose `_load_csv` reads what is
// written here.  With messages it is the form `compute_comms`, which is only written: messages
// follow from the table.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_CSV_H
#define BRAID_LIB_PIPELINE_CSV_H

#include "lib/Pipeline/Messages.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::pipeline {

/// Reads a table, which is not verified yet.  Errors name `file`, line and column.
llvm::Expected<Table> parseCsv(llvm::StringRef text, llvm::StringRef file);
/// The same of a file.
llvm::Expected<Table> readCsv(llvm::StringRef file);

void writeCsv(const Table &table, llvm::raw_ostream &os);
/// With a cell where each send and receive is started, without idle cells.
void writeCsv(const Schedule &schedule, const MessagePlan &plan, llvm::raw_ostream &os);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_CSV_H
