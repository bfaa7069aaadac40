//===- main.cpp - braid-model: a model's configuration as a tg graph ------===//

#include "cli/StandardFiles.h"
#include "dialects/TG/TG.h"
#include "lib/Model/ConfigText.h"
#include "lib/Model/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include <optional>

using namespace llvm;
using namespace braid::cli;

namespace {

struct Options {
  std::string config, preset, output = "-";
  int64_t batch = 8;
  std::optional<int64_t> sequence;
  std::optional<int64_t> expertBound;
  std::optional<double> capacityFactor;
  bool pack = false, count = false;
};

constexpr Option kModel[] = {
    {"FOLDER|config.json", text(""),
     "Folder of a Hugging Face checkpoint, or its config.json; docs/Models.md lists the families",
     into<&Options::config>(), required()},
    {"--preset", text("NAME"), "Built-in model: gpt2, gpt2-medium, gpt-small, llama-tiny or mlp",
     into<&Options::preset>(), excludes("FOLDER|config.json")},
    {"--batch", integer("N", 1, INT32_MAX), "Sequences (rows) in the global batch", into<&Options::batch>()},
    {"--seq", integer("N", 1, INT32_MAX), "Tokens in a sequence; at most the number of positions of the model",
     into<&Options::sequence>(), byDefault("64, or the model's positions if they are fewer")},
    {"--pack", flag(),
     "Pack several documents into a sequence; attention and positions restart at each document, whose start the data "
     "marks",
     into<&Options::pack>()},
    {"--expert-bound", integer("N", 1, INT32_MAX),
     "Largest number of tokens of a sequence for each expert; the line of a step counts the dropped choices",
     into<&Options::expertBound>(), byDefault("--seq, which drops none")},
    {"--capacity-factor", number("F", 1e-3, 1e6),
     "Largest number of tokens of a sequence for each expert, as a multiple of an even distribution",
     into<&Options::capacityFactor>(), excludes("--expert-bound"), byDefault("unlimited")},
};

constexpr Option kOutput[] = {
    {"-o", text("FILE"), "File for the graph; - is standard output", into<&Options::output>()},
    {"--count", flag(), "List the tensors and the number of parameters instead of writing the graph",
     into<&Options::count>()},
};

constexpr Topic kTopics[] = {
    topic<Options>("Model", kModel),
    topic<Options>("Output", kOutput),
    topic<Options>("Help", braid::kToolHelp),
};

constexpr Command kTool = {"braid-model", "Write the training graph of a model", kTopics};

} // namespace

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

/// Parses the generated graph, so that an invalid graph is never written.
static bool verifies(StringRef text) {
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  return static_cast<bool>(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
}

/// Writes through a temporary name, so that no reader sees an incomplete graph.
static int writeGraph(StringRef output, StringRef text) {
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
  braid::cli::prepareProcess();
  braid::reportFailures("braid-model");
  InitLLVM init(argc, argv);
  Options options;
  braid::parseCommandLine(kTool, argc, argv, &options);
  Expected<braid::ModelConfig> config =
      options.preset.empty() ? braid::readModelConfig(options.config) : braid::presetModelConfig(options.preset);
  if (!config)
    return fail(toString(config.takeError()));
  int64_t positions = braid::positionsOf(*config);
  int64_t tokens = options.sequence.value_or(std::min<int64_t>(positions, 64));
  Expected<braid::ModelGraph> graph =
      braid::buildModel(*config, {options.batch, tokens, options.pack, options.expertBound, options.capacityFactor});
  if (!graph)
    return fail(toString(graph.takeError()));
  if (options.count) {
    printCount(*graph);
    return 0;
  }
  std::string text = braid::withConfig(graph->text, options.preset.empty() ? braid::configTextOf(options.config)
                                                                           : braid::presetConfigText(options.preset));
  return verifies(text) ? writeGraph(options.output, text)
                        : fail("the generated graph does not verify; this is an error in Braid, please report it");
}
