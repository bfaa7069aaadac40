//===- PrintIr.cpp - prints the IR after a pass ---------------------------===//

#include "lib/Driver/PrintIr.h"
#include "lib/Driver/OutputFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

/// Returns the passes of the phases, by the names that --print-pipeline prints.
static SmallVector<std::string> passNames(ArrayRef<Phase> phases) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printPipeline(os, phases);
  SmallVector<std::string> names(1);
  int64_t braces = 0;
  for (char c : text) {
    braces += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (braces > 0 || c == '}')
      continue; // options
    if (c == '(')
      names.back().clear(); // the anchor op of a nested pipeline
    else if (c == ',' || c == ')')
      names.emplace_back();
    else
      names.back() += c;
  }
  llvm::erase_if(names, [](const std::string &name) { return name.empty(); });
  return names;
}

llvm::Error braid::checkPrintedPasses(const DriverOptions &options, ArrayRef<Phase> phases) {
  if (options.printIrAfter.empty())
    return llvm::Error::success();
  SmallVector<std::string> names = passNames(phases);
  for (StringRef wanted : options.printIrAfter) {
    if (wanted == kAllPasses || llvm::is_contained(names, wanted))
      continue;
    auto nearest = llvm::min_element(names, [&](StringRef a, StringRef b) {
      return wanted.edit_distance(a, true, 8) < wanted.edit_distance(b, true, 8);
    });
    bool isNear = nearest != names.end() && wanted.edit_distance(*nearest) <= std::max<size_t>(1, wanted.size() / 3);
    return makeError("--print-ir-after=" + wanted.str() + ": no pass of that name runs here" +
                     (isNear ? "; did you mean '" + *nearest + "'?" : "; --print-pipeline lists those that do"));
  }
  return llvm::Error::success();
}

void braid::printIrAfter(PassManager &manager, const DriverOptions &options) {
  if (options.printIrAfter.empty())
    return;
  auto isWanted = [&options](Pass *pass, Operation *) {
    return llvm::is_contained(options.printIrAfter, kAllPasses) ||
           llvm::is_contained(options.printIrAfter, pass->getArgument());
  };
  manager.enableIRPrinting([](Pass *, Operation *) { return false; }, isWanted, /*printModuleScope=*/false,
                           /*printAfterOnlyOnChange=*/false);
}
