//===- main.cpp - braid-model: a model's configuration as a tg graph ------===//

#include "dialects/TG/TG.h"
#include "lib/Model/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;

static cl::OptionCategory category("braid-model options");
static cl::opt<std::string> configPath(cl::Positional, cl::desc("<config.json>"), cl::cat(category));
static cl::opt<std::string> preset("preset",
                                   cl::desc("A built-in model: gpt2, gpt2-medium, gpt-small, llama-tiny, mlp"),
                                   cl::value_desc("name"), cl::cat(category));
static cl::opt<int64_t> batch("batch", cl::desc("Sequences (rows) in the global batch (default 8)"), cl::init(8),
                              cl::cat(category));
static cl::opt<int64_t> sequence("seq", cl::desc("Tokens in a sequence (default 64; at most the model's positions)"),
                                 cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Where to write the graph (- for standard output)"),
                                   cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<bool> countOnly("count", cl::desc("List the parameters by tensor, and their number, instead"),
                               cl::cat(category));

static int fail(const Twine &message) {
  errs() << "braid-model: " << message << '\n';
  return 1;
}

static void printCount(const braid::ModelGraph &graph) {
  int64_t total = 0;
  for (const braid::GraphParam &param : graph.params) {
    std::string shape;
    for (int64_t size : param.shape)
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    outs() << left_justify(param.name, 56) << left_justify(shape, 14) << format_decimal(param.elements(), 14) << '\n';
    total += param.elements();
  }
  outs() << left_justify("total", 70) << format_decimal(total, 14) << '\n';
}

/// Parses what was written: a graph that does not verify never leaves here.
static bool verifies(StringRef text) {
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  return static_cast<bool>(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
}

/// Writes through a temporary name, so that no reader sees half a graph.
static int writeGraph(StringRef text) {
  if (output == "-") {
    outs() << text;
    return 0;
  }
  Error error = writeToOutput(output, [&](raw_ostream &os) {
    os << text;
    return Error::success();
  });
  return error ? fail(output + ": " + toString(std::move(error))) : 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "braid-model " BRAID_VERSION "\n"; });
  cl::ParseCommandLineOptions(argc, argv,
                              "Writes the training graph of a model.\n\n"
                              "The model is a Hugging Face config.json (gpt2 or llama) or a preset.\n");
  if (configPath.empty() == preset.empty())
    return fail("give either a config.json or --preset=" + braid::presetNames());
  Expected<braid::ModelConfig> config =
      preset.empty() ? braid::readModelConfig(configPath) : braid::presetModelConfig(preset);
  if (!config)
    return fail(toString(config.takeError()));
  bool hasSequence = !std::holds_alternative<braid::MlpConfig>(*config);
  int64_t tokens = sequence.getNumOccurrences() || !hasSequence ? int64_t(sequence) : 64;
  Expected<braid::ModelGraph> graph = braid::buildModel(*config, {batch, tokens});
  if (!graph)
    return fail(toString(graph.takeError()));
  if (countOnly) {
    printCount(*graph);
    return 0;
  }
  return verifies(graph->text) ? writeGraph(graph->text) : fail("the graph does not verify");
}
