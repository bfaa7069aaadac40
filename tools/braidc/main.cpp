//===- main.cpp - braidc: from a graph to a training binary ---------------===//

#include "braid/InitAll.h"
#include "cli/StandardFiles.h"
#include "compiler/Driver/Driver.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "tools/braidc/CommandTable.h"
#include "llvm/Support/InitLLVM.h"

using namespace braid;

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  reportFailures("braidc");
  llvm::InitLLVM init(argc, argv);
  DriverOptions options;
  options.given = parseCommandLine(kBraidc, argc, argv, &options, &options.words);
  registerAllPasses();
  return runDriver(options, argv[0]);
}
