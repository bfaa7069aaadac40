//===- OpTable.h - the table of ops as a page -------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H
#define BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H

#include "llvm/Support/raw_ostream.h"

namespace braid {

/// Kinds of programs.
enum class SourceKind { PyTorch, StableHLO };

/// Prints the ops of a kind of program as Markdown: a table for each family.
void printOpTable(llvm::raw_ostream &os, SourceKind kind);

} // namespace braid

#endif // BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H
