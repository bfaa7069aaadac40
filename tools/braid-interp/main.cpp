//===- main.cpp - braid-interp: the reference interpreter -----------------===//

#include "braid/InitAll.h"
#include "cli/StandardFiles.h"
#include "lib/Input/ParserLimits.h"
#include "lib/Input/SourceDiagnostics.h"
#include "lib/Reference/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "tools/Failures.h"
#include "tools/braid-interp/Modes.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

static int fail(const std::string &message) {
  llvm::errs() << "braid-interp: error: " << message << '\n';
  return 1;
}

/// Reads the tensors of all input files; each name may occur in only one file.
static llvm::Error readInputs(Options &options, MLIRContext &context, reference::Values &inputs) {
  for (const std::string &path : options.inputFiles) {
    llvm::Expected<reference::Values> read = reference::readSafetensors(path, &context);
    if (!read)
      return read.takeError();
    for (auto &[name, tensor] : *read)
      if (!inputs.try_emplace(name, std::move(tensor)).second)
        return llvm::createStringError("%s: '%s' is also in another file of --inputs; remove one of them", path.c_str(),
                                       name.c_str());
    options.inputs.file = &inputs;
  }
  return llvm::Error::success();
}

static LogicalResult runMode(ModuleOp module, const Options &options) {
  switch (options.mode) {
  case Mode::Run:
    return runOnce(module, options);
  case Mode::Train:
    return runTraining(module, options);
  case Mode::Compare:
    return runComparison(module, options);
  case Mode::CheckGradients:
    return checkGradients(module, options);
  }
  llvm_unreachable("unknown mode");
}

/// Runs the module with `options`. Returns the exit status.
static int run(ModuleOp module, Options options) {
  reference::Values inputs;
  if (llvm::Error error = readInputs(options, *module.getContext(), inputs))
    return fail(llvm::toString(std::move(error)));
  if (failed(applyPasses(module, options.pipelineBefore)))
    return 1;
  return failed(runMode(module, options));
}

int main(int argc, char **argv) {
  cli::prepareProcess();
  reportFailures("braid-interp");
  registerAllPasses();
  Options options = parseCommandLine(argc, argv);

  MLIRContext context(makeRegistry(), MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::string message;
  auto file = openInputFile(options.file, &message);
  if (!file)
    return fail(message);
  if (llvm::Error error = checkParserLimits(*file))
    return fail(llvm::toString(std::move(error)));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceDiagnostics handler("braid-interp", sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  if (options.runsFile.empty())
    return run(*module, std::move(options));
  return runLines(options.runsFile, [&](llvm::ArrayRef<const char *> words) {
    llvm::SmallVector<char *> all(argv, argv + argc);
    for (const char *word : words)
      all.push_back(const_cast<char *>(word));
    return run(*module, parseCommandLine(all.size(), all.data()));
  });
}
