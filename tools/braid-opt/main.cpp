//===- main.cpp - braid-opt: every pass, one at a time --------------------===//

#include "braid/InitAll.h"
#include "cli/StandardFiles.h"
#include "lib/Input/ParserLimits.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;

static int fail(const Twine &message) {
  errs() << "braid-opt: error: " << message << '\n';
  return 1;
}

/// Checks pipelines early: MLIR reads pipelines and pass options while llvm::cl reads the command line.
static void checkPipelines(ArrayRef<const char *> arguments) {
  StringRef before;
  for (StringRef argument : arguments) {
    auto [name, value] = argument.split('=');
    StringRef text = before.ltrim('-') == "pass-pipeline" ? argument : name.starts_with("-") ? value : "";
    if (std::string problem = braid::problemOfPairs(text); !problem.empty())
      braid::exitForUsage("braid-opt", argument.str() + ": " + problem);
    before = argument;
  }
}

/// Like mlir::MlirOptMain for these file names, whatever characters they contain.
static int run(const std::string &input, const std::string &output, mlir::DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<MemoryBuffer> file = mlir::openInputFile(input, &message);
  if (!file)
    return fail(message);
  if (Error error = braid::checkParserLimits(*file))
    return fail(toString(std::move(error)));
  std::unique_ptr<ToolOutputFile> written = mlir::openOutputFile(output, &message);
  if (!written)
    return fail(message);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (failed(mlir::MlirOptMain(written->os(), std::move(file), registry, config)))
    return 1;
  written->keep();
  return 0;
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-opt");
  braid::describeTool("braid-opt");
  InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  mlir::registerInlinerPass();
  mlir::registerPrintIRPass();
  checkPipelines(ArrayRef(argv + 1, argc - 1));
  cl::list<std::string> unknown(cl::Sink);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Runs Braid's passes on modules of the tg, comm and exec dialects\n", registry);
  braid::refuseUnknown("braid-opt", unknown);
  return run(input, output, registry);
}
