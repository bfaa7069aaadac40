//===- main.cpp - braid-interp: the reference interpreter -----------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "lib/Reference/Safetensors.h"
#include "passes/Graph/Passes.h"
#include "passes/Lower/Passes.h"
#include "tools/braid-interp/Modes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;

/// Passes that pipelines may name.
static void registerPasses() {
  registerGraphPasses();
  registerLowerPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<tg::TGDialect, exec::ExecDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  linalg::LinalgDialect, tensor::TensorDialect>();
  registerUpstreamModels(registry);
  return registry;
}

static int fail(const std::string &message) {
  llvm::errs() << "braid-interp: error: " << message << '\n';
  return 1;
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

int main(int argc, char **argv) {
  registerPasses();
  Options options = parseCommandLine(argc, argv);

  MLIRContext context(makeRegistry(), MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::string message;
  auto file = openInputFile(options.file, &message);
  if (!file)
    return fail(message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  reference::Values inputs;
  if (!options.inputFile.empty()) {
    auto read = reference::readSafetensors(options.inputFile, &context);
    if (!read)
      return fail(llvm::toString(read.takeError()));
    inputs = std::move(*read);
    options.inputs.file = &inputs;
  }
  if (failed(applyPasses(*module, options.pipelineBefore)))
    return 1;
  return failed(runMode(*module, options));
}
