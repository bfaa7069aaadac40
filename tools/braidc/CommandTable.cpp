//===- CommandTable.cpp - the command line of braidc ----------------------===//

#include "tools/braidc/CommandTable.h"
#include "dialects/TG/Optimizer.h"
#include "lib/Cost/Machine.h"
#include "lib/Driver/Hooks.h"
#include "lib/Driver/Options.h"
#include "lib/Memory/Size.h"
#include "passes/Collectives/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Stages/Passes.h"
#include "tools/CommandLine.h"
#include <algorithm>

using namespace braid;
using namespace braid::cli;

namespace {

bool isSize(std::string_view text) { return parseSize(text).has_value(); }

bool isRows(std::string_view text) {
  int64_t rows = 0;
  return text == "auto" || text == "none" || (!llvm::StringRef(text).getAsInteger(10, rows) && rows > 0);
}

bool isChunks(std::string_view text) {
  int64_t chunks = 0;
  return text == "auto" || (!llvm::StringRef(text).getAsInteger(10, chunks) && chunks >= 2 && chunks <= 1024);
}

bool areLinks(std::string_view text) { return readLinks(text).has_value(); }

constexpr Option kOutput[] = {
    {"GRAPH.mlir", text(""), "The training graph, as braid-model writes it", into<&DriverOptions::input>()},
    {"-o", text("PATH"), "The binary, file or folder to write; - is standard output", into<&DriverOptions::output>()},
    {"--emit",
     choice({{"tg", "the programs of a step, in primitives"},
             {"comm", "with --mesh: the programs of a rank, with their collectives"},
             {"exec", "their kernels and library calls, on values"},
             {"memory", "the same with every buffer placed in the arena"},
             {"cpp", "the generated C++ sources, to a folder or standard output"},
             {"cu", "the same of --target=cuda, CUDA C++"},
             {"dir", "a folder that builds with CMake and a compiler, without LLVM"},
             {"exe", "the training binary"}}),
     "What to write", into<&DriverOptions::emit>()},
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
    {"--target", text("cpu|cuda[:sm_90]"), "What the binary runs on; for CUDA, the GPU to compile for",
     into<&DriverOptions::target>()},
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
    {"--recompute",
     choice({{"none", "all that backward reads is kept"},
             {"attention", "what attention computes"},
             {"selective", "what costs little time for its bytes: attention, activations, norms, dropout"},
             {"full", "all that a unit computes: it keeps what enters it"},
             {"auto", "what takes the least time of all that keeps the arena within the budget"}}),
     "What backward computes again instead of keeping it; --report=- shows what auto chose from",
     into<&DriverOptions::recompute>(), byDefault("none; with --memory-limit auto, where that is needed")},
    {"--recompute-file", text("FILE"),
     "Exceptions from --recompute by name, a line each: UNIT: none, attention, selective or full, or UNIT/VALUE: keep "
     "or "
     "replay; names may be globs, and -v lists them",
     into<&DriverOptions::recomputeFile>()},
    {"--recompute-budget", text("SIZE", isSize, "a number of bytes, with an optional KiB, MiB or GiB"),
     "For --recompute=auto: the arena, in bytes, or 512MiB, 2G", into<&DriverOptions::recomputeBudget>(),
     byDefault("--memory-limit"), needs("--recompute")},
    {"--loss-chunk", text("ROWS|auto|none", isRows, "auto, none or a number of rows"),
     "The most rows of logits that are computed together: the last matmul, the loss and their gradients go by chunks; "
     "auto: the fewest chunks that keep the memory limit, or without one that need as little memory as any",
     into<&DriverOptions::lossChunk>(),
     byDefault(
         "auto with --memory-limit; else for logits of 16 MiB and more: on GPUs where the plan exceeds the card's "
         "memory, on CPUs where a percent of time saves five of memory")},
    {"--update",
     choice({{"early", "during backward, once its gradient is there, which then takes no memory any more"},
             {"late", "when backward is over"}}),
     "When a parameter gets its new value; clipping needs all gradients first", into<&DriverOptions::update>(),
     byDefault("early")},
    {"--order", choice({{"peak", "another one, where that lowers the peak of memory"}, {"graph", "that of the graph"}}),
     "The order of kernels and calls that may run in several", into<&DriverOptions::order>(), byDefault("peak")},
    {"--memory-limit", text("SIZE", isSize, "a number of bytes, with an optional KiB, MiB or GiB"),
     "Refuse to compile to a larger arena: bytes, or 512MiB, 2G; communication is hidden only as far as it fits, and "
     "values are computed again where that is needed",
     into<&DriverOptions::memoryLimit>()},
    {"--row-alignment", integer("BYTES"),
     "Pad rows of activations and gradients to multiples of this many bytes where the padding is small; 0: never",
     into<&DriverOptions::rowAlignment>(), byDefault("the target's")},
    {"--sampling",
     choice({{"on", "every rank has room for a text as long as the model's sequence"},
             {"off", "the binary has no `sample`, and takes no memory for it"}}),
     "What generates text, which may take the most memory where ranks share the sequence",
     into<&DriverOptions::sampling>(), byDefault("on")},
};

constexpr Option kHostMemory[] = {
    {"--offload",
     choice({{"none", ""},
             {"optimizer", "moments, and f32 masters of bf16 parameters: fetched for each update and written back"},
             {"activations", "what forward makes and backward reads: copied there and back, where that is hidden"},
             {"optimizer,activations", "both"}}),
     "On GPUs: what lies in pinned memory of the host, with copies beside computing", into<&DriverOptions::offload>(),
     byDefault("none")},
    {"--offload-activations",
     choice({{"hidden", "those whose copies are over in time, by predicted times"},
             {"all", "all that are kept for backward, whatever their copies cost"}}),
     "Which activations --offload=activations copies", into<&DriverOptions::offloadActivations>(), byDefault("hidden"),
     needs("--offload")},
};

constexpr Option kKernels[] = {
    {"--attention",
     choice({{"auto", "by the target's library where that takes it, else by tiles"},
             {"library", "by the library, or an error"},
             {"tiles", "by generated code, which keeps scores on chip, or an error"},
             {"decompose", "by its definition"}}),
     "How attention is computed", into<&DriverOptions::attention>()},
    {"--attention-order",
     choice({{"auto", "fixed, unless that takes 2 % of the predicted time, a tenth of the arena, or the memory limit"},
             {"fixed", "the same bits in every run"},
             {"serial", "the same with less memory and slower: sm_90, cuDNN 9.25"},
             {"any", "faster, with bits that differ from run to run"}}),
     "The order in which the attention library sums gradients", into<&DriverOptions::attentionOrder>()},
    {"--epilogues",
     choice({{"full", "activations, bias gradients and residual sums"},
             {"gradients", "activations and bias gradients"},
             {"activations", ""},
             {"none", "all are kernels"}}),
     "Epilogues of matmul calls, where the target's GEMM library has them", into<&DriverOptions::epilogues>(),
     byDefault("full")},
    {"--merge-matmuls", choice({{"on", "as one, with their weights side by side"}, {"off", "each by itself"}}),
     "Matmuls of one tensor with several weights, as those of q, k and v; not with --layout, which shards weights by "
     "name",
     into<&DriverOptions::mergeMatmuls>(), byDefault("on for a GPU without ZeRO"), excludes("--layout")},
    {"--kv-cache", choice({{"on", "a token costs one position"}, {"off", "a token costs a whole window"}}),
     "Keys and values of earlier positions, kept for sampling", into<&DriverOptions::kvCache>(), byDefault("on"),
     excludes("--sampling")},
    {"--row-loops",
     choice({{"short", "a maximum and its sum of exponentials in one loop, approximate where that suffices"},
             {"full", "each op by itself"}}),
     "Loops over the lanes of rows", into<&DriverOptions::rowLoops>(), byDefault("short")},
    {"--stores", choice({{"streamed", "past the caches, where the next use is far away"}, {"cached", "as others"}}),
     "How kernels store what is not read soon, on a CPU", into<&DriverOptions::stores>(), byDefault("streamed")},
    {"--dot-products", choice({{"kernel", "reads the matrix once"}, {"library", "calls as for other matmuls"}}),
     "A matrix times a vector, as for a token that is decoded", into<&DriverOptions::dotProducts>(),
     byDefault("kernel")},
    {"--panels",
     choice({{"once", "before the product, where it has many rows"},
             {"library", "by the library, for each block of rows"}}),
     "How operands of matmuls in bf16 come into the layout that is multiplied, on a CPU",
     into<&DriverOptions::panels>(), byDefault("once")},
};

constexpr Option kPrecision[] = {
    {"--precision", choice({"f32", "bf16"}),
     "Type in which the model computes; bf16: contractions, attention and what lies between, with f32 masters of the "
     "parameters",
     into<&PrecisionOptions::compute>(), byDefault("f32")},
    {"--grad-dtype", choice({"f32", "bf16"}),
     "With --precision=bf16: type in which gradients of parameters are stored and microbatches add up",
     into<&PrecisionOptions::gradients>(), byDefault("f32")},
    {"--reduce-dtype", choice({"f32", "bf16"}),
     "With --precision=bf16: type in which ranks send gradients to reduce them", into<&PrecisionOptions::reductions>(),
     byDefault("f32"), needs("--mesh")},
    {"--optimizer-state",
     choice({{"f32", ""},
             {"bf16", "half the memory, rounded stochastically"},
             {"int8", "a quarter and 3 %: codes of 8 bits in blocks of up to 128 with a scale each"}}),
     "Type in which the optimizer's moments are stored; updates compute in f32", into<&PrecisionOptions::moments>(),
     byDefault("f32")},
};

constexpr Option kHooks[] = {
    {"--hook",
     list("POINT:norm|keep|scale:F|clip:F", isHook,
          "POINT:norm, POINT:keep, POINT:scale:F, POINT:clip:F with F above 0, or list"),
     "Report the norm of a value or gradient each step, return it, multiply it, or limit its norm; may be given "
     "several times; list: print the points of the graph and stop",
     into<&DriverOptions::hooks>(), excludes("--compare")},
};

constexpr Value kAnyNumber = number("X", -kUnbounded);

// Returns a line for each optimizer, with its hyperparameters.
Lines optimizers() {
  Lines lines;
  for (const tg::Optimizer *optimizer : tg::allOptimizers())
    lines.emplace_back(optimizer->name, tg::hyperparametersText(*optimizer));
  return lines;
}

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
    {"--optimizer", text("NAME"), "One of these, which have hyperparameters with these defaults",
     into<&OptimizerOptions::name>(), listing(optimizers)},
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
    {"--clip", kAnyNumber, "Clip the global norm of the gradients to this; 0: do not", into<&OptimizerOptions::clip>()},
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
    {"--strategy", choice({{"dataparallel", "the first rank holds all, sends parameters and batch and updates alone"}}),
     "Another form of data parallelism than --zero and the axes of --mesh choose", into<&ParallelOptions::strategy>()},
    {"--compare",
     choice({{"zero", "all stages of --zero"},
             {"mesh",
              "all meshes of pp, dp, ep, cp and tp that have as many ranks as --mesh=8 says, and --zero=0, 1, 3"}}),
     "Plan all of these instead of compiling one, and print what each costs", into<&ParallelOptions::compare>(),
     excludes("--zero --strategy -o --emit --keep-sources --transports")},
    {"--reshard-after-forward", choice({"false", "true"}).alone("true"),
     "With --zero=3: drop gathered parameters after forward", into<&ParallelOptions::reshardAfterForward>(),
     defaultOf<&GatherUnitsPassOptions::reshardAfterForward>()},
    {"--unreduced-accumulators", flag(),
     "With --zero=2, 3 and --accumulate: keep partial sums and reduce them once a step, instead of each microbatch "
     "into the shard",
     into<&ParallelOptions::unreducedAccumulators>()},
    {"--noise-scale", flag(), "Measure the gradient noise scale (one scalar all_reduce more)",
     into<&ParallelOptions::noiseScale>()},
    {"--transports", list("NAMES"),
     "What the binary can communicate over: threads, gloo, mpi; on GPUs nccl, gloo, mpi, device-threads",
     into<&ParallelOptions::transports>(), byDefault("those that are installed")},
};

constexpr Option kLayout[] = {
    {"--layout", text("FILE"), "Shardings by names of tensors, as comm-annotate reads them",
     into<&ParallelOptions::layout>()},
    {"--context",
     choice({{"auto", "the fastest of these, as predicted"},
             {"ring", "pass keys and values round the ranks, block by block, while attention is computed"},
             {"gather", "gather keys and values; every rank has all of them"},
             {"ulysses", "change positions for heads and back, where these ranks divide the heads"}}),
     "With cp in --mesh: how attention reads positions of other ranks", into<&ParallelOptions::context>(),
     byDefault("auto")},
    {"--context-order",
     choice({{"auto", "zigzag in a causal ring that it fits, else straight"},
             {"straight", "one block of positions, in order: of a causal mask the last rank has most"},
             {"zigzag", "two blocks, one from either end: all ranks have as much of a causal mask"}}),
     "With cp in --mesh: which positions a rank has", into<&ParallelOptions::contextOrder>(), byDefault("auto")},
    {"--sequence-parallel", flag(),
     "tp shards the sequence of activations, too, where it does not shard what they are computed with",
     into<&ParallelOptions::sequenceParallel>()},
    {"--fold", text("ep:AXES"),
     "Axes of --mesh over which experts lie as well, which share the batch or the sequence of everything else: "
     "ep:dp,cp",
     into<&ParallelOptions::fold>()},
};

constexpr Option kPipeline[] = {
    {"--schedule", text("NAME|FILE.csv"),
     "With pp in --mesh: which microbatch each rank computes when, as gpipe, 1f1b, interleaved, zb-h1, zb-v, or a "
     "table that braid-schedule reads",
     into<&ParallelOptions::schedule>(), defaultOf<&StagesPassOptions::schedule>()},
    {"--chunks", integer("V", 1, 1024), "Stages on each rank", into<&ParallelOptions::chunks>(),
     byDefault("as many as the schedule takes")},
    {"--stages", text("UNITS|UNITS"), "The units of each stage, as in --stages='embed+h.0-5|h.6-11+head'",
     into<&ParallelOptions::stages>(), byDefault("balanced by predicted time, within the memory limit")},
};

constexpr Option kOverlap[] = {
    {"--overlap",
     choice({{"full", "what does not depend on a collective is computed while that is on its way"},
             {"in-order", "computing keeps its order"},
             {"none", "each collective is waited for at once"}}),
     "Hide communication behind compute", into<&ParallelOptions::overlap>(), byDefault("full")},
    {"--collectives", choice({"library", "ring", "tree", "direct", "hierarchical"}),
     "How collectives are made: by the library of the transport, or of messages between pairs of ranks; "
     "hierarchical: of collectives over one mesh axis after the other",
     into<&ParallelOptions::collectives>(), byDefault("library")},
    {"--bucket-mb", number("MiB", 0, 0x1p40).orOneOf({"inf", "auto"}),
     "Tensors that are reduced or gathered together; 0: one collective for each, inf: for all, auto: from --link",
     into<&ParallelOptions::bucketMb>(), defaultOf<&BucketPassOptions::bucketMb>()},
    {"--first-bucket-mb", number("MiB", 0, 0x1p40).orOneOf({"inf"}), "The first bucket of backward",
     into<&ParallelOptions::firstBucketMb>(), defaultOf<&BucketPassOptions::firstBucketMb>()},
    {"--prefetch", integer("N", 0, INT32_MAX), "With --zero=3: gather at most this many units ahead",
     into<&ParallelOptions::prefetch>(), byDefault("1, and more where predicted times ask for it")},
    {"--tp-overlap", text("N|auto", isChunks, "auto or a number of chunks from 2 to 1024"),
     "With tp in --mesh: a collective and the matmuls beside it go by so many chunks of rows, which overlap, where "
     "that "
     "is predicted to take less time; auto: of 2, 4 and 8 the number that takes least",
     into<&ParallelOptions::tpOverlap>(), byDefault("one")},
    {"--comm-ctas", integer("N", 0, 32),
     "On GPUs: the most CTAs (thread blocks) of a collective, whose multiprocessors the matmuls beside it leave alone; "
     "0: NCCL chooses, and matmuls take all",
     into<&ParallelOptions::commCtas>(), byDefault("what the row of the GPU says: 16 for sm_90")},
    {"--link",
     text("[AXIS:]latency_us,GBps", areLinks,
          "a latency in us and a rate in GB/s, as in --link=20,1.25, or one pair an axis, as in "
          "--link=tp:5,100,dp:20,1.25"),
     "Link between ranks for the cost model, or one for each axis of --mesh", into<&ParallelOptions::link>(),
     byDefault("that of the target inside a machine")},
    {"--compute", text("GFLOPS,GBps", isPositivePair, "two rates above 0, as in --compute=100,20"),
     "Rates of a rank for the cost model: arithmetic, and memory traffic", into<&ParallelOptions::compute>(),
     byDefault("those of the target")},
};

constexpr Topic kTopics[] = {
    topic<DriverOptions>("Input and output", kOutput),
    topic<DriverOptions>("Target and compilers", kTarget),
    topic<DriverOptions, &DriverOptions::optimizer>("Optimizer", kOptimizer),
    topic<DriverOptions>("Microbatches", kMicrobatches),
    topic<DriverOptions>("Hooks", kHooks),
    topic<DriverOptions, &DriverOptions::precision>("Precision", kPrecision),
    topic<DriverOptions>("Library calls", kKernels),
    topic<DriverOptions>("Memory", kMemory),
    topic<DriverOptions>("Memory of a GPU's host", kHostMemory),
    topic<DriverOptions, &DriverOptions::parallel>("Ranks", kRanks, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Weights and sequences over ranks", kLayout, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Pipelines", kPipeline, "--mesh"),
    topic<DriverOptions, &DriverOptions::parallel>("Communication", kOverlap, "--mesh"),
    topic<DriverOptions>("Help", kToolHelp),
};

} // namespace

constexpr Command braid::kBraidc = {"braidc", "Compile a training graph to a training binary", kTopics};
