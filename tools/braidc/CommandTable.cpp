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
    {"GRAPH.mlir", text(""), "The training graph, as braid-model writes it", into<&DriverOptions::input>()},
    {"-o", text("PATH"), "The binary, file or folder to write; - is standard output", into<&DriverOptions::output>()},
    {"--emit", choice<Emit>(), "What to write", into<&DriverOptions::emit>()},
    {"--report", text("FILE"),
     "Write the plan: a page to a file that ends in .html, JSON to any other, a table to - (standard output)",
     into<&DriverOptions::report>()},
    {"--keep-sources", text("FOLDER"), "Leave the generated sources in this folder",
     into<&DriverOptions::keepSources>()},
    {"--keep",
     text("").alone(""),
     "",
     {},
     moved("it is --keep-sources now; --keep of the training binary is the number of checkpoints")},
    {"--print-pipeline", flag(), "Print the passes as braid-opt takes them, and stop",
     into<&DriverOptions::printPipeline>()},
    {"--print-ir-after", list("PASS"),
     "Print the IR to standard error behind these passes, of those that --print-pipeline prints, or behind all",
     into<&DriverOptions::printIrAfter>(), excludes("--compare")},
    {"-v", flag(), "Show commands and the time of each phase", into<&DriverOptions::verbose>()},
};

constexpr Option kTarget[] = {
    {"--cpu", text("NAME"), "The processor to compile for, as -march= takes it", into<&DriverOptions::cpu>(),
     byDefault("that of this machine")},
    {"--cc", text("PROGRAM"), "The C++ compiler", into<&DriverOptions::compiler>()},
    {"--nvcc", text("PATH"), "The CUDA compiler", into<&DriverOptions::nvcc>(),
     byDefault("in CUDA_HOME, or found in PATH")},
    {"--runtime-dir", text("FOLDER"), "The folder with lib/braid and share/braid", into<&DriverOptions::runtimeDir>(),
     byDefault("found beside braidc")},
};

constexpr Option kMicrobatches[] = {
    {"--accumulate", integer("K", 1, INT32_MAX), "Microbatches a step: the graph's batch is divided by this",
     into<&DriverOptions::accumulate>()},
};

constexpr Option kMemory[] = {
    {"--recompute-budget", size(), "For --recompute=auto: the arena, in bytes, or 512MiB, 2G",
     into<&DriverOptions::recomputeBudget>(), byDefault("--memory-limit"), needs("--recompute")},
    {"--loss-chunk", integer("ROWS", 1).orOneOf({"auto", "none"}),
     "The most rows of logits that are computed together: the last matmul, the loss and their gradients go by chunks; "
     "auto: the fewest chunks that keep the memory limit, or without one that need as little memory as any",
     into<&DriverOptions::lossChunk>(),
     byDefault(
         "auto with --memory-limit; else for logits of 16 MiB and more: on GPUs where the plan exceeds the card's "
         "memory, on CPUs where a percent of time saves five of memory")},
    {"--sampling",
     choice({{"off", "the binary has no `sample`, and takes no memory for it"},
             {"on", "every rank has room for a text as long as the model's sequence"}}),
     "What generates text, which may take the most memory where ranks share the sequence",
     into<&DriverOptions::sampling>()},
};

constexpr Option kHostMemory[] = {
    {"--offload", choice<Offload>(), "On GPUs: what lies in pinned memory of the host, with copies beside computing",
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
    {"--epilogues", choice<Epilogues>(), "Epilogues of matmul calls, where the target's GEMM library has them",
     into<&DriverOptions::epilogues>()},
    {"--merge-matmuls", flag(),
     "Multiply a tensor by several weights at once, as by those of q, k and v, on every target and layout; not with "
     "--layout, which shards weights by name",
     into<&DriverOptions::mergeMatmuls>(), byDefault("only on a GPU without ZeRO"), excludes("--layout")},
    {"--without", list("PASS"), "Optional passes to leave out; programs compute the same without them",
     into<&DriverOptions::without>(), listing(optional)},
};

constexpr Option kPrecision[] = {
    {"--precision", choice<ElementType>(),
     "Type in which the model computes; bf16: contractions, attention and what lies between, with f32 masters of the "
     "parameters",
     into<&DriverOptions::precision>()},
};

constexpr Option kHooks[] = {
    {"--hook",
     list("POINT:norm|keep|scale:F|clip:F", isHook,
          "POINT:norm, POINT:keep, POINT:scale:F, POINT:clip:F with F above 0, or list"),
     "Report the norm of a value or gradient each step, return it, multiply it, or limit its norm; may be given "
     "several times; list: print the points of the graph and stop",
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
    {"--beta1", kAnyNumber, "The hyperparameter beta1: decay of the first mean", hyperparameter<"beta1">()},
    {"--beta2", kAnyNumber, "The hyperparameter beta2: decay of the second", hyperparameter<"beta2">()},
    {"--eps", kAnyNumber, "The hyperparameter eps: added to a denominator", hyperparameter<"eps">()},
    {"--momentum", kAnyNumber, "The hyperparameter momentum: decay of the velocity", hyperparameter<"momentum">()},
    {"--weight-decay", kAnyNumber, "The hyperparameter weight_decay: a share of the parameter (times lr) a step",
     hyperparameter<"weight_decay">()},
    {"--decay-exclude", list("NAMES"),
     "Parameters without decay: biases (not of norms), norms (with their biases), embeddings",
     into<&OptimizerOptions::decayExclude>()},
};

constexpr Option kRanks[] = {
    {"--mesh", text("dp=4,tp=2"),
     "Axes of ranks and their sizes: the batch is sharded over dp, replica and shard (hybrid sharding), the sequence "
     "over cp, weights over tp, experts and the batch over ep, stages of the model lie along pp; other axes are for "
     "--layout",
     into<&ParallelOptions::meshText>()},
    {"--zero", integer("STAGE", 0, 3),
     "What data parallel ranks shard: 0 nothing (DDP), 1 optimizer state, 2 and gradients, 3 and parameters (FSDP)",
     into<&ParallelOptions::zero>(), byDefault("0")},
    {"--strategy", choice<Strategy>(), "Another form of data parallelism than --zero and the axes of --mesh choose",
     into<&ParallelOptions::strategy>()},
    {"--compare", choice<Compared>(), "Plan all of these instead of compiling one, and print what each costs",
     into<&ParallelOptions::compare>(), excludes("--zero --strategy -o --emit --keep-sources --transports")},
    {"--noise-scale", flag(), "Measure the gradient noise scale (one scalar all_reduce more)",
     into<&ParallelOptions::noiseScale>()},
    {"--transports", list("NAMES"),
     "What the binary can communicate over: threads, gloo, mpi; on GPUs nccl, gloo, mpi, device-threads",
     into<&ParallelOptions::transports>(), byDefault("those that are installed")},
};

constexpr Option kLayout[] = {
    {"--layout", text("FILE"), "Shardings by names of tensors, as comm-annotate reads them",
     into<&ParallelOptions::layout>()},
    {"--fold", text("ep:AXES"),
     "Axes of --mesh over which experts lie as well, which share the batch or the sequence of everything else: "
     "ep:dp,cp",
     into<&ParallelOptions::fold>()},
};

constexpr Option kOverlap[] = {
    {"--overlap", choice<Overlap>(), "Hide communication behind compute", into<&ParallelOptions::overlap>()},
    {"--collectives", choice<CollectiveAlgorithm>(),
     "How collectives are made: by the library of the transport, or of messages between pairs of ranks; "
     "hierarchical: of collectives over one mesh axis after the other",
     into<&ParallelOptions::collectives>()},
    {"--tp-overlap", integer("N", 2, 1024).orOneOf({"auto"}),
     "With tp in --mesh: a collective and the matmuls beside it go by so many chunks of rows, which overlap, where "
     "that "
     "is predicted to take less time; auto: of 2, 4 and 8 the number that takes least",
     into<&ParallelOptions::tpOverlap>(), byDefault("one")},
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
