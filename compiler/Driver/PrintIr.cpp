//===- PrintIr.cpp - prints the IR after a pass ---------------------------===//

#include "compiler/Driver/PrintIr.h"
#include "compiler/Driver/OutputFile.h"
#include "runtime/cli/Names.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

llvm::Error braid::checkPrintedPasses(const DriverOptions &options) {
  if (options.printIrAfter.empty())
    return llvm::Error::success();
  const std::vector<PassList::Entry> passes = printPipeline(llvm::nulls(), options);
  SmallVector<std::string_view> names;
  for (const PassList::Entry &pass : passes)
    if (pass.runs)
      names.push_back(pass.name);
  for (StringRef wanted : options.printIrAfter) {
    if (wanted == kAllPasses || llvm::is_contained(names, std::string_view(wanted)))
      continue;
    StringRef nearest = cli::nearestTo(wanted, names);
    return makeError("--print-ir-after=" + wanted + ": no pass of that name runs here" +
                     (nearest.empty() ? "; --print-pipeline lists the passes" : "; did you mean '" + nearest + "'?"));
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
