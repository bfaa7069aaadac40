//===- Pipeline.cpp - which passes run, and why in this order -------------===//

#include "lib/Driver/Pipeline.h"
#include "lib/Driver/ParallelOptions.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;

/// A pass's options as text: `{beta1=0.9 clip=1}`.
static std::string optionsText(ArrayRef<std::pair<StringRef, std::string>> options) {
  auto texts = llvm::map_range(options, [](const auto &option) { return option.first.str() + "=" + option.second; });
  return "{" + llvm::join(texts, " ") + "}";
}

/// What was said, of those options that were.
static std::string givenOptions(ArrayRef<std::pair<StringRef, std::string>> options) {
  SmallVector<std::pair<StringRef, std::string>> given(
      llvm::make_filter_range(options, [](const auto &option) { return !option.second.empty(); }));
  return given.empty() ? "" : optionsText(given);
}

static std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", value);
  return text;
}

/// The model, on its own terms: the layout of its weights and its batch.  Both
/// change the types of arguments, so they come before anything is derived from
/// them: gradients and optimizer state take the type of their parameter.
static Phase prepare(const DriverOptions &options) {
  std::string passes = "func.func(tg-transpose-weights";
  if (options.accumulate > 1)
    passes += ",tg-rebatch{factor=" + std::to_string(options.accumulate) + "}";
  // What runs in which type is said of the model, before there are gradients.
  if (options.precision.isMixed())
    passes += ",tg-mixed-precision";
  return {"prepare", passes + ")"};
}

/// One graph for each entry point.  Evaluation and generation leave the model
/// before differentiation asks for anything to be saved.
static Phase makePrograms(const DriverOptions &) { return {"programs", "tg-make-programs"}; }

/// That of stored gradients of parameters.
static std::string gradientType(const DriverOptions &options) {
  return options.precision.gradients.empty() ? "f32" : options.precision.gradients;
}

/// The gradients of @train.  With accumulation the divisor of a mean is taken out
/// first, because a mean of means is not the mean.  Canonicalization comes before,
/// so that nothing that folds away is differentiated, and never between split-loss
/// and differentiation's end: it would fold the count into the loss again.
static Phase differentiate(const DriverOptions &options) {
  std::string passes = "canonicalize,cse,";
  if (options.accumulate > 1)
    passes += "func.func(tg-split-loss),";
  passes += "tg-differentiate{function=train}";
  if (options.precision.isMixed())
    passes += ",func.func(tg-gradient-precision{type=" + gradientType(options) + "})";
  if (options.accumulate > 1)
    passes += ",tg-accumulate";
  return {"differentiate", passes};
}

/// Gradients become updates.  Needs gradients by name (`tg.grad_of`), so nothing
/// that merges results may run in between.
static Phase applyOptimizer(const DriverOptions &options) {
  const OptimizerOptions &optimizer = options.optimizer;
  SmallVector<std::pair<StringRef, std::string>> texts{
      {"optimizer", optimizer.name},
      {"beta1", numberText(optimizer.beta1)},
      {"beta2", numberText(optimizer.beta2)},
      {"eps", numberText(optimizer.eps)},
      {"momentum", numberText(optimizer.momentum)},
      {"weight-decay", numberText(optimizer.weightDecay)},
      {"clip", numberText(optimizer.clip)},
  };
  if (options.parallel.noiseScale)
    texts.push_back({"report-norm", "true"});
  if (!optimizer.decayExclude.empty())
    texts.push_back({"decay-exclude", llvm::join(optimizer.decayExclude, ",")});
  // All programs are there, and so are updates: what is left to say is who reads which.
  std::string copies = options.precision.isMixed() ? ",tg-working-copies" : "";
  return {"optimizer", "func.func(tg-apply-optimizer" + optionsText(texts) + ")" + copies};
}

/// The mesh as a layout says it.
static std::string meshText(const ParallelOptions &options) {
  auto axes =
      llvm::map_range(options.mesh, [](const MeshAxis &axis) { return axis.name + " = " + std::to_string(axis.size); });
  return "mesh " + llvm::join(axes, ", ");
}

/// What each rank keeps, as annotations: those of the layout, then what the strategy
/// adds.
static Phase annotate(const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  std::string passes = "comm-annotate{layout='" + meshText(parallel) + "'}";
  if (!parallel.layout.empty())
    passes += ",comm-annotate{layout-file='" + parallel.layout + "'}";
  if (batchAxes(parallel).empty())
    return {"annotate", passes};
  SmallVector<std::pair<StringRef, std::string>> texts{
      {"axes", llvm::join(batchAxes(parallel), ",")},
      {"shard", llvm::join(shardAxes(parallel), ",")},
      {"zero", std::to_string(parallel.zero.value_or(0))},
  };
  if (parallel.unreducedAccumulators)
    texts.push_back({"unreduced-accumulators", "true"});
  return {"annotate", passes + ",comm-data-parallel" + optionsText(texts)};
}

/// From the graph of everything to the program of a rank, which follows from the
/// annotations.  The noise scale is measured where gradients are first reduced, and
/// known by name.
static Phase partition(const DriverOptions &options) {
  if (!options.parallel.strategy.empty())
    return {"partition", "comm-agree,comm-shard,comm-root-parallel", /*isTalkative=*/true};
  std::string noise;
  if (options.parallel.noiseScale)
    noise = ",func.func(comm-noise-scale{accumulate=" + std::to_string(options.accumulate) + "})";
  // Where gradients are stored in the type that they are sent in, this changes nothing.
  std::string reductions;
  if (options.precision.isMixed())
    reductions = ",func.func(comm-reduce-precision{type=" +
                 (options.precision.reductions.empty() ? "f32" : options.precision.reductions) + "})";
  return {"partition", "comm-agree,comm-shard" + noise + reductions, /*isTalkative=*/true};
}

/// Fewer collectives, each of many tensors.  A unit that is gathered again is a
/// recomputation, so no CSE may run after this.  Before kernels are formed, because
/// what stands between two gathers of a unit must not become one kernel.
static Phase mergeCollectives(const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  std::string passes;
  if (parallel.zero == 3)
    passes = "comm-gather-units" +
             optionsText({{"reshard-after-forward", parallel.reshardAfterForward.value_or(true) ? "true" : "false"}}) +
             ",";
  passes +=
      "comm-bucket" +
      givenOptions(
          {{"bucket-mb", parallel.bucketMb}, {"first-bucket-mb", parallel.firstBucketMb}, {"link", parallel.link}}) +
      ",comm-name-tensors";
  // Whole units and buckets are decomposed, so this comes after they are formed; what it
  // adds between the messages becomes kernels, and each message is overlapped by itself.
  if (parallel.decomposesCollectives())
    passes += ",comm-decompose{algorithm=" + parallel.collectives + "}";
  return {"collectives", "func.func(" + passes + ")",
          /*isTalkative=*/true};
}

/// Attention as calls of a library, if the target has one.
static std::string selectAttention(const DriverOptions &options) {
  bool hasLibrary = lookupTarget(options.target)->attention.maxHeadSize > 0;
  if (!hasLibrary || options.attention == "decompose")
    return "";
  SmallVector<std::pair<StringRef, std::string>> texts{{"target", options.target}};
  if (options.attention == "library")
    texts.push_back({"required", "true"});
  return "exec-select-attention" + optionsText(texts) + ",";
}

/// The last simplification of the graph, while composites are whole; then their
/// definitions.  Attention and epilogues are selected between, because they match
/// what is still one op, and have the shapes of a rank.  No CSE may run after decompose: forward and backward
/// share only what differentiation chose to save, and merging more would keep it
/// in memory.
static Phase decompose(const DriverOptions &options) {
  std::string calls;
  if (options.emit >= Emit::Exec)
    calls = selectAttention(options) +
            (options.epilogues == "none" ? "" : "exec-select-epilogues{target=" + options.target + "},");
  return {"decompose", "tg-remove-hooks,canonicalize,cse,func.func(" + calls + "tg-decompose,tg-verify-primitives)",
          /*isTalkative=*/true};
}

/// From tensors to actions: library calls first, because what they take must not
/// be split into kernels, then sums that those calls make as well, then a kernel for
/// each op left, then kernels into one another.
static Phase formActions(const DriverOptions &options) {
  std::string target = "{target=" + options.target + "}";
  bool sumsInCalls = options.epilogues.empty() || options.epilogues == "full";
  std::string sums = sumsInCalls ? ",exec-select-bias-gradients" + target : "";
  return {"actions", "func.func(exec-select-calls" + target + sums + ",exec-form-kernels" + target +
                         ",exec-fuse-kernels" + target + "),exec-verify-values"};
}

/// Communication beside computation.  Costs are those of kernels, so it comes after
/// they are formed; lives are read from block order, so it comes before memory.
Phase braid::overlapPhase(const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  bool isFull = parallel.overlap != "none";
  std::string passes = givenOptions({{"target", options.target},
                                     {"annotate-only", isFull ? "" : "true"},
                                     {"prefetch", parallel.prefetch ? std::to_string(*parallel.prefetch) : ""},
                                     {"link", parallel.link},
                                     {"compute", parallel.compute},
                                     {"memory-limit", isFull ? options.memoryLimit : ""}});
  return {"overlap", "func.func(comm-overlap" + passes + "),exec-verify-values", /*isTalkative=*/true};
}

/// From values to bytes.  The planner reads lives from block order, so from here
/// on nothing moves an action.  Equal kernels can only be recognised once their
/// layouts are known, hence outlining and batching afterwards.
Phase braid::memoryPhase(const DriverOptions &options) {
  std::string limit = options.memoryLimit.empty() ? "" : " memory-limit=" + options.memoryLimit;
  std::string rows = options.rowAlignment.empty() ? "" : " row-alignment=" + options.rowAlignment;
  std::string order = options.parallel.isParallel() ? ",comm-verify-order" : "";
  return {"memory", "exec-plan-memory{target=" + options.target + limit + rows +
                        "},exec-outline-kernels,exec-batch-launches,exec-verify-plan{target=" + options.target +
                        "},exec-verify-memory" + order};
}

std::vector<Phase> braid::buildPhases(const DriverOptions &options) {
  std::vector<Phase> phases;
  for (auto build : {prepare, makePrograms, differentiate, applyOptimizer})
    phases.push_back(build(options));
  bool isParallel = options.parallel.isParallel();
  if (isParallel)
    phases.push_back(annotate(options));
  if (isParallel && options.emit >= Emit::Comm)
    phases.push_back(partition(options));
  phases.push_back(decompose(options));
  if (isParallel && options.emit >= Emit::Comm)
    phases.push_back(mergeCollectives(options));
  if (options.emit >= Emit::Exec)
    phases.push_back(formActions(options));
  if (isParallel && options.emit >= Emit::Exec)
    phases.push_back(overlapPhase(options));
  if (options.emit >= Emit::Memory)
    phases.push_back(memoryPhase(options));
  return phases;
}

std::string braid::pipelineText(ArrayRef<Phase> phases) {
  return "builtin.module(" + llvm::join(llvm::map_range(phases, [](const Phase &phase) { return phase.passes; }), ",") +
         ")";
}

LogicalResult braid::runPhase(ModuleOp module, const Phase &phase) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (failed(parsePassPipeline(phase.passes, manager, llvm::errs())))
    return failure();
  return manager.run(module);
}
