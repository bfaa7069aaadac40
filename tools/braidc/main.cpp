//===- main.cpp - braidc: from a graph to a training binary ---------------===//

#include "braid/InitAll.h"
#include "lib/Driver/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using namespace braid;

static cl::OptionCategory category("Options");

namespace {
struct Flags {
  cl::opt<std::string> input{cl::Positional, cl::desc("<graph.mlir>"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("The binary, file or folder to write; - is standard output"),
                              cl::value_desc("path"), cl::cat(category)};
  cl::opt<Emit> emit{
      "emit", cl::desc("What to write:"), cl::init(Emit::Exe), cl::cat(category),
      cl::values(clEnumValN(Emit::Tg, "tg", "the programs of a step, in primitives"),
                 clEnumValN(Emit::Comm, "comm", "with --mesh: the programs of a rank, with their collectives"),
                 clEnumValN(Emit::Exec, "exec", "their kernels and library calls, on values"),
                 clEnumValN(Emit::Memory, "memory", "the same with every buffer placed in the arena"),
                 clEnumValN(Emit::Cpp, "cpp", "the generated C++ sources, to a folder or standard output"),
                 clEnumValN(Emit::Cu, "cu", "the same of --target=cuda, CUDA C++"),
                 clEnumValN(Emit::Dir, "dir", "a folder that builds with CMake and a compiler, without LLVM"),
                 clEnumValN(Emit::Exe, "exe", "the training binary (default)"))};
  cl::opt<std::string> target{"target",
                              cl::desc("What the binary runs on: cpu (default), or cuda with the GPU to compile for "
                                       "(default sm_90)"),
                              cl::value_desc("cpu|cuda[:sm_90]"), cl::init("cpu"), cl::cat(category)};
  cl::opt<int64_t> accumulate{"accumulate", cl::desc("Microbatches a step: the graph's batch is divided by this"),
                              cl::value_desc("K"), cl::init(1), cl::cat(category)};

  cl::opt<std::string> precision{"precision",
                                 cl::desc("f32 (default), or bf16: contractions, attention and what lies between "
                                          "in bf16, parameters with f32 masters"),
                                 cl::value_desc("f32|bf16"), cl::cat(category)};
  cl::opt<std::string> gradType{"grad-dtype",
                                cl::desc("--precision=bf16: in which type gradients of parameters are stored and "
                                         "microbatches add up (default f32)"),
                                cl::value_desc("bf16|f32"), cl::cat(category)};
  cl::opt<std::string> reduceType{"reduce-dtype",
                                  cl::desc("--precision=bf16: in which type ranks send gradients to reduce them "
                                           "(default f32)"),
                                  cl::value_desc("f32|bf16"), cl::cat(category)};

  cl::opt<std::string> attention{"attention",
                                 cl::desc("How attention is computed: auto (default: by the target's library where "
                                          "that takes it), library (or an error), or decompose"),
                                 cl::value_desc("auto|library|decompose"), cl::cat(category)};

  cl::opt<std::string> epilogues{"epilogues",
                                 cl::desc("Epilogues of matmul calls, where the target's GEMM library has them: full "
                                          "(default: activations and bias gradients), activations, or none"),
                                 cl::value_desc("full|activations|none"), cl::cat(category)};

  cl::opt<std::string> rowAlignment{"row-alignment",
                                    cl::desc("Pad rows of activations and gradients to multiples of this many bytes "
                                             "where the padding is small; 0: never (default: the target's, "
                                             "128 on GPUs)"),
                                    cl::value_desc("bytes"), cl::cat(category)};

  cl::opt<std::string> optimizer{"optimizer", cl::desc("sgd, momentum, nesterov, adam or adamw (default)"),
                                 cl::init("adamw"), cl::cat(category)};
  cl::opt<double> beta1{"beta1", cl::desc("Adam: decay of the mean (default 0.9)"), cl::init(0.9), cl::cat(category)};
  cl::opt<double> beta2{"beta2", cl::desc("Adam: decay of the squared mean (default 0.999)"), cl::init(0.999),
                        cl::cat(category)};
  cl::opt<double> eps{"eps", cl::desc("Adam: added to the denominator (default 1e-8)"), cl::init(1e-8),
                      cl::cat(category)};
  cl::opt<double> momentum{"momentum", cl::desc("momentum, nesterov: decay of the velocity (default 0.9)"),
                           cl::init(0.9), cl::cat(category)};
  cl::opt<double> weightDecay{"weight-decay",
                              cl::desc("Weight decay, a share of the parameter (times lr) a step (default 0)"),
                              cl::init(0.0), cl::cat(category)};
  cl::list<std::string> decayExclude{"decay-exclude", cl::desc("Parameters without decay: biases, norms, embeddings"),
                                     cl::CommaSeparated, cl::cat(category)};
  cl::opt<double> clip{"clip", cl::desc("Clip the global norm of the gradients to this (default 0: do not)"),
                       cl::init(0.0), cl::cat(category)};

  cl::opt<std::string> mesh{"mesh",
                            cl::desc("Axes of ranks and their sizes: the batch is sharded over dp, replica and shard "
                                     "(hybrid sharding), other axes are for --layout"),
                            cl::value_desc("dp=4,tp=2"), cl::cat(category)};
  cl::opt<int64_t> zero{"zero",
                        cl::desc("What data parallel ranks shard: 0 nothing (DDP, default), 1 optimizer state, "
                                 "2 and gradients, 3 and parameters (FSDP)"),
                        cl::value_desc("stage"), cl::init(0), cl::cat(category)};
  cl::opt<std::string> compare{"compare", cl::desc("Plan all stages of --zero instead and print what each costs"),
                               cl::value_desc("zero"), cl::cat(category)};
  cl::opt<std::string> strategy{"strategy",
                                cl::desc("dataparallel: the first rank holds all, sends parameters and batch and "
                                         "updates alone"),
                                cl::value_desc("dataparallel"), cl::cat(category)};
  cl::opt<std::string> layout{"layout", cl::desc("Shardings by names of tensors, as comm-annotate reads them"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<bool> reshardAfterForward{"reshard-after-forward",
                                    cl::desc("--zero=3: drop gathered parameters after forward (default true)"),
                                    cl::init(true), cl::cat(category)};
  cl::opt<bool> unreducedAccumulators{
      "unreduced-accumulators",
      cl::desc("--zero=2, 3 with --accumulate: keep partial sums and reduce them once a "
               "step, instead of each microbatch into the shard"),
      cl::cat(category)};
  cl::opt<std::string> bucketMb{"bucket-mb",
                                cl::desc("Tensors that are reduced or gathered together, MiB (default 25); "
                                         "0 for one tensor, inf for all, auto from --link"),
                                cl::value_desc("N|inf|auto"), cl::cat(category)};
  cl::opt<std::string> firstBucketMb{"first-bucket-mb", cl::desc("The first bucket of backward, MiB (default 1)"),
                                     cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> overlap{"overlap", cl::desc("Hide communication behind compute: full (default) or none"),
                               cl::value_desc("full|none"), cl::cat(category)};
  cl::opt<int64_t> prefetch{"prefetch", cl::desc("--zero=3: gather at most this many units ahead (default 1)"),
                            cl::value_desc("N"), cl::init(1), cl::cat(category)};
  cl::opt<std::string> link{"link", cl::desc("The link that the cost model assumes"), cl::value_desc("latency_us,GBps"),
                            cl::cat(category)};
  cl::opt<std::string> compute{"compute", cl::desc("The rates of a rank that the cost model assumes"),
                               cl::value_desc("GFLOPS,GBps"), cl::cat(category)};
  cl::opt<bool> noiseScale{"noise-scale", cl::desc("Measure the gradient noise scale (one scalar all_reduce more)"),
                           cl::cat(category)};
  cl::list<std::string> transports{"transports",
                                   cl::desc("What the binary can communicate over: threads, gloo, mpi; "
                                            "cuda: nccl, gloo, mpi, device-threads (default: those that "
                                            "are installed)"),
                                   cl::value_desc("names"), cl::CommaSeparated, cl::cat(category)};

  cl::opt<std::string> memoryLimit{"memory-limit",
                                   cl::desc("Refuse to compile to a larger arena: bytes, or 512MiB, 2G"),
                                   cl::value_desc("size"), cl::cat(category)};
  cl::opt<std::string> report{"report",
                              cl::desc("Write the memory plan: JSON to a file, or a table to - (standard output)"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> cpu{"cpu", cl::desc("The processor to compile for, as -march= takes it (default native)"),
                           cl::cat(category)};
  cl::opt<std::string> compiler{"cc", cl::desc("The C++ compiler (default c++)"), cl::init("c++"), cl::cat(category)};
  cl::opt<std::string> nvcc{"nvcc", cl::desc("The CUDA compiler (default: in CUDA_HOME, or found)"),
                            cl::value_desc("path"), cl::cat(category)};
  cl::opt<std::string> keep{"keep", cl::desc("Leave the generated sources in this folder"), cl::value_desc("folder"),
                            cl::cat(category)};
  cl::opt<std::string> runtimeDir{"runtime-dir", cl::desc("The folder with lib/braid and share/braid (default: found)"),
                                  cl::value_desc("folder"), cl::cat(category)};
  cl::opt<bool> printPipeline{"print-pipeline", cl::desc("Print the passes as braid-opt takes them, and stop"),
                              cl::cat(category)};
  cl::opt<bool> verbose{"v", cl::desc("Show commands and the time of each phase"), cl::cat(category)};

  /// The value, where one was given.
  template <class T> static std::optional<T> given(const cl::opt<T> &option) {
    return option.getNumOccurrences() ? std::optional<T>(option.getValue()) : std::nullopt;
  }

  ParallelOptions readParallel() const {
    ParallelOptions options;
    options.meshText = mesh;
    options.zero = given(zero);
    options.compare = compare;
    options.strategy = strategy;
    options.layout = layout;
    options.reshardAfterForward = given(reshardAfterForward);
    options.unreducedAccumulators = unreducedAccumulators;
    options.noiseScale = noiseScale;
    options.bucketMb = bucketMb;
    options.firstBucketMb = firstBucketMb;
    options.overlap = overlap;
    options.prefetch = given(prefetch);
    options.link = link;
    options.compute = compute;
    options.transports.assign(transports.begin(), transports.end());
    return options;
  }

  DriverOptions read() const {
    DriverOptions options;
    options.input = input;
    options.output = output;
    options.emit = emit;
    options.target = target;
    options.accumulate = accumulate;
    options.precision = {precision, gradType, reduceType};
    options.attention = attention;
    options.epilogues = epilogues;
    options.rowAlignment = rowAlignment;
    options.optimizer = {
        optimizer, beta1, beta2, eps, momentum, weightDecay, {decayExclude.begin(), decayExclude.end()}, clip};
    options.parallel = readParallel();
    options.memoryLimit = memoryLimit;
    options.report = report;
    options.cpu = cpu;
    options.compiler = compiler;
    options.nvcc = nvcc;
    options.keep = keep;
    options.runtimeDir = runtimeDir;
    options.printPipeline = printPipeline;
    options.verbose = verbose;
    return options;
  }
};
} // namespace

/// `--mesh=` is an unset variable of somebody's script: to take it for no mesh would
/// be to compile another program than was asked for.
static void refuseEmptyValues(llvm::ArrayRef<char *> words) {
  auto &options = cl::getRegisteredOptions();
  for (auto [at, text] : llvm::enumerate(words)) {
    llvm::StringRef word = text;
    bool isEmpty = word.count('=') == 1 && word.ends_with("=");
    bool isBeforeEmpty = at + 1 < words.size() && llvm::StringRef(words[at + 1]).empty();
    llvm::StringRef name = word.rtrim('=');
    auto option = options.find(name.ltrim('-'));
    if (!name.starts_with("-") || option == options.end() || !(isEmpty || isBeforeEmpty))
      continue;
    llvm::StringRef form = option->second->ValueStr;
    llvm::WithColor::error(llvm::errs(), "braidc")
        << name << " has no value: " << (form.empty() ? "give it one" : ("write " + name + "=" + form).str())
        << ", or leave it out\n";
    std::exit(1);
  }
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Flags flags;
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "braidc " BRAID_VERSION "\n"; });
  refuseEmptyValues(llvm::ArrayRef(argv, argc).drop_front());
  cl::ParseCommandLineOptions(argc, argv, "braidc: compiles a training graph to a training binary\n");

  registerAllPasses();
  return runDriver(flags.read(), argv[0]);
}
