//===- OpTable.cpp - the table of ops as a page ---------------------------===//

#include "tools/braid-import/OpTable.h"
#include "lib/Import/StableHLO/Translator.h"
#include "lib/Import/Torch/Translator.h"

using namespace llvm;
using namespace braid;

template <class Family> static void printFamilies(raw_ostream &os, ArrayRef<Family> families) {
  StringRef gap = "";
  for (const Family &family : families) {
    os << gap << "### " << family.title << "\n\n| op | becomes |\n|---|---|\n";
    gap = "\n";
    for (const auto &row : family.rows())
      os << "| `" << row.name << "` | " << row.becomes << " |\n";
  }
}

void braid::printOpTable(raw_ostream &os, SourceKind kind) {
  if (kind == SourceKind::PyTorch)
    printFamilies(os, torch::allFamilies());
  else
    printFamilies(os, stablehlo::allFamilies());
}
