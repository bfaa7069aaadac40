//===- OpTable.cpp - the table of ops as a page ---------------------------===//

#include "tools/braid-import/OpTable.h"
#include "lib/Import/Torch/Translator.h"

using namespace llvm;
using namespace braid::torch;

void braid::printOpTable(raw_ostream &os) {
  StringRef gap = "";
  for (const OpFamily &family : allFamilies()) {
    os << gap << "### " << family.title << "\n\n| op | becomes |\n|---|---|\n";
    gap = "\n";
    for (const OpRow &row : family.rows())
      os << "| `" << row.name << "` | " << row.becomes << " |\n";
  }
}
