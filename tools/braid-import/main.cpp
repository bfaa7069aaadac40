//===- main.cpp - braid-import: a PyTorch program as a tg graph -----------===//

#include "cli/StandardFiles.h"
#include "lib/Import/Torch/Translator.h"
#include "lib/Import/Torch/Weights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "tools/braid-import/OpTable.h"
#include "tools/braid-import/Summary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace braid::cli;
using braid::torch::Archive;
using braid::torch::Imported;
using braid::torch::Program;

namespace {
struct Options {
  std::string program, output = "-", weights, loss;
  std::vector<std::string> inputs;
  bool summary = false, ops = false;
};

/// Returns the role that a word names, if an input can have it.
std::optional<braid::tg::Role> roleNamed(StringRef word) {
  std::optional<braid::tg::Role> role = braid::tg::symbolizeRole(word);
  return role && *role <= braid::tg::Role::Labels ? role : std::nullopt;
}

bool isInputRole(std::string_view text) {
  auto [name, word] = StringRef(text).split('=');
  return !name.empty() && roleNamed(word);
}

constexpr Option kImport[] = {
    {"FILE.pt2", text(""), "A program that torch.export.save wrote; docs/Importing.md lists the ops",
     into<&Options::program>(), required()},
    {"--input", list("NAME=ROLE", isInputRole, "NAME=tokens, targets, features or labels"),
     "Roles of inputs in training: tokens, targets, features or labels; may be given several times",
     into<&Options::inputs>(), byDefault("by the input's name and type")},
    {"--loss", text("LOSS"),
     "A loss for a program that returns none: cross_entropy(OUTPUT,LABELS), mse(OUTPUT,LABELS) or bce(OUTPUT,LABELS); "
     "cross_entropy also takes label_smoothing=NUMBER and ignore_index=INTEGER",
     into<&Options::loss>()},
};
constexpr Option kOutput[] = {
    {"-o", text("FILE"), "Path of the graph; - is standard output", into<&Options::output>()},
    {"--weights", text("FILE"), "Path of a safetensors file for the program's weights", into<&Options::weights>()},
    {"--summary", flag(), "Print parameters, ops and recognized patterns instead of the graph",
     into<&Options::summary>(), excludes("-o")},
    {"--ops", flag(), "Print the ops that can be imported, as Markdown", into<&Options::ops>(),
     excludes("FILE.pt2 --input --loss -o --weights --summary")},
};
constexpr Topic kTopics[] = {topic<Options>("Import", kImport), topic<Options>("Output", kOutput),
                             topic<Options>("Help", braid::kToolHelp)};
constexpr Command kTool = {"braid-import", "Write the training graph of a PyTorch program", kTopics};
} // namespace

static int fail(const Twine &message) {
  errs() << "braid-import: " << message << '\n';
  return 1;
}

/// Prints `FILE:LINE: error: MESSAGE [MODULE]`, with the place in the user's source and the module that made the call.
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

/// Reads --input and --loss. Fails if the program has no such input.
static Expected<braid::torch::ImportOptions> readOptions(const Options &given, const Program &program) {
  std::vector<std::string> names;
  for (const braid::torch::Input &input : program.inputs)
    if (input.kind == braid::torch::Input::Kind::User)
      names.push_back(input.target);
  braid::torch::ImportOptions options;
  if (!given.loss.empty()) {
    Expected<braid::torch::LossRequest> loss = braid::torch::parseLoss(given.loss);
    if (!loss)
      return createStringError("--loss: " + toString(loss.takeError()));
    options.loss = *loss;
  }
  for (StringRef input : given.inputs) {
    auto [name, word] = input.split('=');
    if (!is_contained(names, name))
      return createStringError("--input=" + input + ": the program has no such input; its inputs are " +
                               join(names, ", "));
    options.roles.push_back({name.str(), *roleNamed(word)});
  }
  return options;
}

/// Removes what is unused after patterns were recognized.
static mlir::LogicalResult simplify(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(module);
}

static Error writeFiles(const Options &options, const Program &program, const Archive &archive, mlir::ModuleOp module) {
  if (!options.weights.empty()) {
    Error error = writeToOutput(options.weights, [&](raw_ostream &os) {
      return braid::torch::writeWeights(program, archive, braid::parameterNames(module), os);
    });
    if (error)
      return createStringError(options.weights + ": " + toString(std::move(error)));
  }
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    module.print(os, mlir::OpPrintingFlags().enableDebugInfo());
    return Error::success();
  });
  return error ? createStringError(options.output + ": " + toString(std::move(error))) : Error::success();
}

static int import(const Options &options) {
  Expected<Archive> archive = Archive::open(options.program);
  if (!archive)
    return fail(toString(archive.takeError()));
  Expected<Program> program = braid::torch::readProgram(*archive);
  if (!program)
    return fail(toString(program.takeError()));
  Expected<braid::torch::ImportOptions> roles = readOptions(options, *program);
  if (!roles)
    return fail(toString(roles.takeError()));
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler(printDiagnostic);
  Imported imported = braid::torch::translate(*program, *archive, *roles, context);
  if (!imported.module || failed(mlir::verify(*imported.module)) || failed(simplify(*imported.module)))
    return 1;
  if (options.summary) {
    braid::printSummary(outs(), *imported.module, imported.recognized);
    return 0;
  }
  Error error = writeFiles(options, *program, *archive, *imported.module);
  return error ? fail(toString(std::move(error))) : 0;
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-import");
  InitLLVM init(argc, argv);
  Options options;
  braid::parseCommandLine(kTool, argc, argv, &options);
  if (options.ops) {
    braid::printOpTable(outs());
    return 0;
  }
  return import(options);
}
