//===- CommandTable.cpp - the command line of braidc ----------------------===//

#include "tools/braidc/CommandTable.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/Options.h"
#include "dialects/TG/Optimizer.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Size.h"
#include "tools/CommandLine.h"
#include <algorithm>

using namespace braid;
using namespace braid::cli;

namespace braid {
static void readOption(LossChunk &chunk, std::string_view text) {
  using Choice = LossChunk::Choice;
  chunk.choice = text == "auto" ? Choice::Auto : Choice::Rows;
  std::from_chars(text.data(), text.data() + text.size(), chunk.rows);
}
} // namespace braid

namespace {
// Returns an option of one pass.
template <auto... Path> consteval Field inPass() { return into<&DriverOptions::passes, Path...>(); }

// Returns the valid values of a type.
template <class T> consteval Value valueOf() {
  if constexpr (Choice<T>)
    return choice<T>();
  else if constexpr (std::is_same_v<T, bool>)
    return flag();
  else
    return T::valid();
}

bool isSize(std::string_view text) { return parseSize(text).has_value(); }

constexpr Value size() { return text("SIZE", isSize, "a number of bytes, with an optional KiB, MiB or GiB"); }

bool areLinks(std::string_view text) { return readLinks(text).has_value(); }

constexpr Value kAnyNumber = number("X", -kUnbounded);

// Returns a line for each optimizer, with its hyperparameters.
Lines optimizers() {
  Lines lines;
  for (const tg::Optimizer *optimizer : tg::allOptimizers())
    lines.emplace_back(optimizer->name, tg::hyperparametersText(*optimizer));
  return lines;
}

// Options of passes, from Passes.td.
#define GET_kTargetFlags_IMPL
#define GET_kOptimizerFlags_IMPL
#define GET_kMemoryFlags_IMPL
#define GET_kHostMemoryFlags_IMPL
#define GET_kKernelFlags_IMPL
#define GET_kPrecisionFlags_IMPL
#define GET_kRankFlags_IMPL
#define GET_kLayoutFlags_IMPL
#define GET_kPipelineFlags_IMPL
#define GET_kCommunicationFlags_IMPL
#include "passes/Pipelines/Flags.inc"

constexpr Option kOutput[] = {
    {"GRAPH.mlir", text(""), "Training graph, such as braid-model writes", into<&DriverOptions::input>()},
    {"-o", text("PATH"), "Binary, file or folder to write; - is standard output", into<&DriverOptions::output>()},
    {"--emit", choice<Emit>(), "Output of the compilation", into<&DriverOptions::emit>()},
    {"--report", text("FILE"),
     "File for the plan: a page if the name ends in .html, else JSON; -: a table on standard output",
     into<&DriverOptions::report>()},
    {"--keep-sources", text("FOLDER"), "Folder in which to keep the generated sources",
     into<&DriverOptions::keepSources>()},
    {"--keep",
     text("").alone(""),
     "",
     {},
     moved("it is --keep-sources now; --keep of the training binary is the number of checkpoints")},
    {"--print-pipeline", flag(), "Print the pass pipeline in the syntax of braid-opt, and stop",
     into<&DriverOptions::printPipeline>()},
    {"--print-ir-after", list("PASS"),
     "Passes after which to print the IR to standard error, with names from --print-pipeline; all: after every pass",
     into<&DriverOptions::printIrAfter>(), excludes("--compare")},
    {"-v", flag(), "Print the commands that run and the seconds of each phase", into<&DriverOptions::verbose>()},
};

constexpr Option kTarget[] = {
    {"--cpu", text("NAME"), "Processor to compile for, in the syntax of -march=", into<&DriverOptions::cpu>(),
     byDefault("the processor of this machine")},
    {"--cc", text("PROGRAM"), "C++ compiler", into<&DriverOptions::compiler>()},
    {"--nvcc", text("PATH"), "CUDA compiler", into<&DriverOptions::nvcc>(),
     byDefault("in CUDA_HOME, or found in PATH")},
    {"--runtime-dir", text("FOLDER"), "Folder with lib/braid and share/braid", into<&DriverOptions::runtimeDir>(),
     byDefault("found beside braidc")},
};

constexpr Option kMicrobatches[] = {
    {"--accumulate", integer("K", 1, INT32_MAX), "Microbatches in a step; divides the batch of the graph",
     into<&DriverOptions::accumulate>()},
};

constexpr Option kMemory[] = {
    {"--recompute-budget", size(), "With --recompute=auto: largest arena in bytes, or with a unit as in 512MiB or 2G",
     into<&DriverOptions::recomputeBudget>(), byDefault("--memory-limit"), needs("--recompute")},
    {"--loss-chunk", integer("ROWS", 1).orOneOf({"auto", "none"}),
     "Largest number of rows of logits in memory at a time; the last matmul, the loss and their gradients run chunk by "
     "chunk; none: all rows at once; auto: the fewest chunks that fit --memory-limit, or that reach the lowest memory "
     "if there is no limit",
     into<&DriverOptions::lossChunk>(),
     byDefault("auto with --memory-limit; otherwise none for logits below 16 MiB; for larger logits, on GPUs the "
               "fewest chunks that fit the card's memory, on CPUs chunks that save at least 5 % of memory for each 1 % "
               "of added time")},
    {"--sampling",
     choice({{"off", "the binary has no `sample` command and reserves no memory for it"},
             {"on", "every rank has memory for a text as long as the model's sequence"}}),
     "Programs that generate text; may need the most memory of all programs if ranks shard the sequence",
     into<&DriverOptions::sampling>()},
};

constexpr Option kHostMemory[] = {
    {"--offload", choice<Offload>(), "On GPUs: tensors in pinned host memory, copied while the GPU computes",
     into<&DriverOptions::offload>()},
};

// Returns a line for each optional pass.
Lines optional() {
  Lines lines;
  for (const PassList::Entry &pass : optionalPasses())
    lines.emplace_back(pass.name, pass.summary);
  return lines;
}

constexpr Option kKernels[] = {
    {"--epilogues", choice<Epilogues>(), "Epilogues of matmul calls, if the target's GEMM library has them",
     into<&DriverOptions::epilogues>()},
    {"--merge-matmuls", flag(),
     "Merge matmuls of one tensor with several weights, such as q, k and v, on every target; not with --layout, which "
     "shards weights by name",
     into<&DriverOptions::mergeMatmuls>(), byDefault("only on a GPU without ZeRO"), excludes("--layout")},
    {"--without", list("PASS"), "Optional passes to leave out; programs compute the same results without them",
     into<&DriverOptions::without>(), listing(optional)},
};

constexpr Option kPrecision[] = {
    {"--precision", choice<ElementType>(),
     "Element type for compute; bf16: contractions, attention and the ops between them, with f32 masters of the "
     "parameters",
     into<&DriverOptions::precision>()},
};

constexpr Option kHooks[] = {
    {"--hook",
     list("POINT:norm|keep|scale:F|clip:F", isHook,
          "POINT:norm, POINT:keep, POINT:scale:F, POINT:clip:F with F above 0, or list"),
     "Hook on a value or gradient: report its norm each step (norm), return it (keep), multiply it (scale) or limit "
     "its norm (clip); may be repeated; list: print the points of the graph and stop",
     into<&DriverOptions::hooks>(), excludes("--compare")},
};

template <size_t size> struct Name {
  char text[size] = {};
  consteval Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

// Returns the field of one hyperparameter, to which the option assigns a value.
template <Name name> consteval Field hyperparameter() {
  Field field = into<&OptimizerOptions::hyperparameters>();
  field.store = [](void *options, const Value &, std::string_view number) {
    auto &given = static_cast<OptimizerOptions *>(options)->hyperparameters;
    given.push_back(std::string(name.text) + "=" + std::string(number));
  };
  return field;
}

constexpr Option kOptimizer[] = {
    {"--hyperparameters", list("NAME=X,..."), "Values of hyperparameters, as in beta1=0.8,beta2=0.95",
     into<&OptimizerOptions::hyperparameters>()},
    {"--beta1", kAnyNumber,
     "Hyperparameter beta1: decay of the mean of gradients; for lion, weight of this mean in the update, beside the "
     "gradient",
     hyperparameter<"beta1">()},
    {"--beta2", kAnyNumber,
     "Hyperparameter beta2: decay of the mean of squared gradients; for lion, of the mean of gradients",
     hyperparameter<"beta2">()},
    {"--eps", kAnyNumber, "Hyperparameter eps: added to the denominator of the update", hyperparameter<"eps">()},
    {"--momentum", kAnyNumber, "Hyperparameter momentum: decay of the velocity", hyperparameter<"momentum">()},
    {"--weight-decay", kAnyNumber,
     "Hyperparameter weight_decay: share of the parameter, times lr, that each step subtracts",
     hyperparameter<"weight_decay">()},
    {"--decay-exclude", list("NAMES"),
     "Parameters without weight decay: biases (except of norms), norms (with their biases), embeddings",
     into<&OptimizerOptions::decayExclude>()},
};

constexpr Option kRanks[] = {
    {"--mesh", text("dp=4,tp=2"),
     "Axes of ranks and their sizes: dp, replica and shard (hybrid sharding) shard the batch, cp the sequence, tp "
     "weights, ep experts and the batch; pp splits the model into pipeline stages; other axes are for --layout",
     into<&ParallelOptions::meshText>()},
    {"--zero", integer("STAGE", 0, 3),
     "ZeRO stage of data parallel ranks, which shard: 0 nothing (DDP), 1 optimizer state, 2 also gradients, 3 also "
     "parameters (FSDP)",
     into<&ParallelOptions::zero>(), byDefault("0")},
    {"--strategy", choice<Strategy>(), "Form of data parallelism instead of the form that --zero and --mesh select",
     into<&ParallelOptions::strategy>()},
    {"--compare", choice<Compared>(), "Plan every alternative instead of compiling one, and print the cost of each",
     into<&ParallelOptions::compare>(), excludes("--zero --strategy -o --emit --keep-sources --transports")},
    {"--noise-scale", flag(), "Measure the gradient noise scale (adds one scalar all_reduce a step)",
     into<&ParallelOptions::noiseScale>()},
    {"--transports", list("NAMES"),
     "Transports to build into the binary: threads, gloo, mpi; on GPUs nccl, gloo, mpi, device-threads",
     into<&ParallelOptions::transports>(), byDefault("every transport that is installed")},
};

constexpr Option kLayout[] = {
    {"--layout", text("FILE"), "File with shardings by tensor name, in the syntax of comm-annotate",
     into<&ParallelOptions::layout>()},
    {"--fold", text("ep:AXES"),
     "Axes of --mesh over which experts are sharded, as in ep:dp,cp; these axes still shard the batch or the sequence "
     "of all other ops",
     into<&ParallelOptions::fold>()},
};

constexpr Option kOverlap[] = {
    {"--overlap", choice<Overlap>(), "Overlap of communication with compute", into<&ParallelOptions::overlap>()},
    {"--collectives", choice<CollectiveAlgorithm>(),
     "Algorithm of collectives: a call of the transport's library, or messages between pairs of ranks; hierarchical: "
     "one collective for each mesh axis in turn",
     into<&ParallelOptions::collectives>()},
    {"--tp-overlap", integer("N", 2, 1024).orOneOf({"auto"}),
     "With tp in --mesh: chunks of rows into which a collective and its adjacent matmuls are split so that they "
     "overlap, if the prediction is faster; auto: the fastest of 2, 4 and 8",
     into<&ParallelOptions::tpOverlap>(), byDefault("1")},
};

constexpr Topic kTopics[] = {
    topic<DriverOptions>("Input and output", kOutput),
    topic<DriverOptions>("Target and compilers", kTargetFlags),
    topic<DriverOptions>("Target and compilers", kTarget),
    topic<DriverOptions>("Optimizer", kOptimizerFlags),
    topic<DriverOptions, &DriverOptions::optimizer>("Optimizer", kOptimizer),
    topic<DriverOptions>("Microbatches", kMicrobatches),
    topic<DriverOptions>("Hooks", kHooks),
    topic<DriverOptions>("Precision", kPrecision),
    topic<DriverOptions>("Precision", kPrecisionFlags),
    topic<DriverOptions>("Library calls", kKernelFlags),
    topic<DriverOptions>("Library calls", kKernels),
    topic<DriverOptions>("Memory", kMemoryFlags),
    topic<DriverOptions>("Memory", kMemory),
    topic<DriverOptions>("Memory of a GPU's host", kHostMemory),
    topic<DriverOptions>("Memory of a GPU's host", kHostMemoryFlags),
    topic<DriverOptions, &DriverOptions::parallel>("Ranks", kRanks, "--mesh"),
    topic<DriverOptions>("Ranks", kRankFlags, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Weights and sequences over ranks", kLayout, "--mesh"),
    topic<DriverOptions>("Weights and sequences over ranks", kLayoutFlags, "--mesh"),
    topic<DriverOptions>("Pipelines", kPipelineFlags, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Communication", kOverlap, "--mesh"),
    topic<DriverOptions>("Communication", kCommunicationFlags, "--mesh"),
    topic<DriverOptions>("Help", kToolHelp),
};

} // namespace

constexpr Command braid::kBraidc = {"braidc", "Compile a training graph to a training binary", kTopics};
