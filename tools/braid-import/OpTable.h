//===- OpTable.h - the table of ops as a page -------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H
#define BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H

#include "llvm/Support/raw_ostream.h"

namespace braid {

/// Prints the ops that can be imported as Markdown: a table for each family.
void printOpTable(llvm::raw_ostream &os);

} // namespace braid

#endif // BRAID_TOOLS_BRAIDIMPORT_OPTABLE_H
