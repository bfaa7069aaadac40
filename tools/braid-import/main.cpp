//===- main.cpp - braid-import: a model of another framework as a tg graph ===//

#include "cli/StandardFiles.h"
#include "dialects/TG/TG.h"
#include "lib/Import/Torch/Translator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/FileUtilities.h"

using namespace llvm;
using namespace braid::cli;

namespace {
struct Options {
  std::string program, output = "-";
  std::vector<std::string> inputs;
};

constexpr Option kImport[] = {
    {"FILE.pt2", text(""), "A program that torch.export.save wrote", into<&Options::program>(), required()},
    {"-o", text("FILE"), "Path of the graph; - is standard output", into<&Options::output>()},
};
constexpr Topic kTopics[] = {topic<Options>("Import", kImport), topic<Options>("Help", braid::kToolHelp)};
constexpr Command kTool = {"braid-import", "Write the training graph of a PyTorch program", kTopics};
} // namespace

static int fail(const Twine &message) {
  errs() << "braid-import: " << message << '\n';
  return 1;
}

/// Prints `FILE:LINE: error: MESSAGE`, with the user's source, and the module that makes the call.
static mlir::LogicalResult printDiagnostic(mlir::Diagnostic &diagnostic) {
  mlir::Location place = diagnostic.getLocation();
  std::string module;
  if (auto name = dyn_cast<mlir::NameLoc>(place)) {
    module = name.getName().str();
    place = name.getChildLoc();
  }
  if (auto source = dyn_cast<mlir::FileLineColLoc>(place))
    errs() << source.getFilename().getValue() << ':' << source.getLine() << ": ";
  else
    errs() << "braid-import: ";
  errs() << "error: " << diagnostic;
  if (!module.empty())
    errs() << " [" << module << ']';
  errs() << '\n';
  return mlir::success();
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-import");
  InitLLVM init(argc, argv);
  Options options;
  braid::parseCommandLine(kTool, argc, argv, &options);
  Expected<braid::torch::Archive> archive = braid::torch::Archive::open(options.program);
  if (!archive)
    return fail(toString(archive.takeError()));
  Expected<braid::torch::Program> program = braid::torch::readProgram(*archive);
  if (!program)
    return fail(toString(program.takeError()));
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler(printDiagnostic);
  mlir::OwningOpRef<mlir::ModuleOp> module = braid::torch::translate(*program, *archive, {}, context);
  if (!module || failed(mlir::verify(*module)))
    return 1;
  mlir::PassManager passes(&context);
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  if (failed(passes.run(*module)))
    return 1;
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    module->print(os, mlir::OpPrintingFlags().enableDebugInfo(true, false));
    return Error::success();
  });
  return error ? fail(options.output + ": " + toString(std::move(error))) : 0;
}
