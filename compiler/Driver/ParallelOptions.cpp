//===- ParallelOptions.cpp - parses and checks options of ranks -----------===//
//
// No option is ignored silently. An option without effect is refused with a message that names the option responsible.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/TargetOptions.h"
#include "lib/Cost/Machine.h"
#include "lib/Input/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace braid;

std::string braid::meshText(ArrayRef<MeshAxis> mesh) {
  auto axes = map_range(mesh, [](const MeshAxis &axis) { return axis.name + "=" + std::to_string(axis.size); });
  return join(axes, ",");
}

/// The axis of experts comes last: one all_to_all then sends rows to experts, and one sends them back.
std::vector<std::string> braid::batchAxes(const ParallelOptions &options) {
  std::vector<std::string> axes;
  for (const MeshAxis &axis : options.mesh)
    if (is_contained(kBatchAxes, axis.name))
      axes.push_back(axis.name);
  // An axis cp or ep of one rank counts as a batch axis, so that --zero accepts the mesh.
  for (const std::string &axis : options.axesOfOne)
    if (axis == kExpertAxis || axis == kContextAxis)
      axes.push_back(axis);
  if (is_contained(options.along(AxisUse::Experts), kExpertAxis))
    axes.push_back(kExpertAxis.str());
  return axes;
}

std::vector<std::string> braid::shardAxes(const ParallelOptions &options) {
  std::vector<std::string> axes = batchAxes(options);
  if (is_contained(axes, "shard"))
    erase_if(axes, [](StringRef axis) { return axis != "shard" && is_contained(kBatchAxes, axis); });
  append_range(axes, options.along(AxisUse::Sequence));
  return axes;
}

int64_t braid::numRanks(const ParallelOptions &options, ArrayRef<std::string> axes) {
  int64_t ranks = 1;
  for (const MeshAxis &axis : options.mesh)
    if (is_contained(axes, axis.name))
      ranks *= axis.size;
  return ranks;
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

static bool isIdentifier(StringRef text) {
  return !text.empty() && !isDigit(text.front()) && all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

/// Returns the number of ranks if --mesh gives only that.
static std::optional<int64_t> ranksAlone(const ParallelOptions &options) {
  int64_t ranks = 0;
  return StringRef(options.meshText).trim().getAsInteger(10, ranks) ? std::nullopt : std::optional(ranks);
}

static Error readMesh(ParallelOptions &options) {
  if (std::optional<int64_t> ranks = ranksAlone(options); ranks && *ranks > 0)
    return makeError("--mesh=" + options.meshText + " gives the number of ranks, but not their axes: write --mesh=dp=" +
                     Twine(*ranks) + ", or add --compare=mesh, which tries all meshes of " + Twine(*ranks) + " ranks");
  SmallVector<StringRef> parts;
  StringRef(options.meshText).split(parts, ',');
  int64_t ranks = 1;
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    MeshAxis axis{name.trim().str(), 0};
    if (!isIdentifier(axis.name) || size.trim().getAsInteger(10, axis.size) || axis.size < 1)
      return makeError("--mesh=" + options.meshText + ": invalid axis '" + part +
                       "'; expected NAME=SIZE, as in --mesh=dp=4 or --mesh=dp=4,tp=2");
    if (any_of(options.mesh, [&](const MeshAxis &other) { return other.name == axis.name; }))
      return makeError("--mesh=" + options.meshText + " names the axis '" + axis.name + "' twice");
    if (axis.size > INT32_MAX / ranks)
      return makeError("--mesh=" + options.meshText + " has more ranks than fit in 32 bits; make its axes smaller");
    ranks *= axis.size;
    options.mesh.push_back(std::move(axis));
  }
  return Error::success();
}

/// Returns whether a statement of the layout names the axis.
static bool namesAxis(StringRef layout, StringRef axis) {
  SmallVector<StringRef> lines;
  layout.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef rest = line.split('#').first;
    while (!rest.empty()) {
      StringRef word = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
      if (word == axis)
        return true;
      rest = rest.drop_front(std::max<size_t>(word.size(), 1));
    }
  }
  return false;
}

/// Parses --fold: experts lie on ranks that otherwise share the batch and the sequence.
static Error parseFold(ParallelOptions &options) {
  if (options.fold.empty())
    return Error::success();
  std::string fold = "--fold=" + options.fold, example = "write, as with --mesh=dp=4,cp=2, --fold=ep:dp,cp";
  auto [name, rest] = StringRef(options.fold).split(':');
  if (name != kExpertAxis || rest.empty())
    return makeError(fold + " must name ep and the axes that shard experts: " + example);
  if (!options.along(AxisUse::Experts).empty())
    return makeError(fold + " with --mesh=" + options.meshText +
                     ": ep is either an axis of --mesh or a fold of other axes; leave one of them out");
  SmallVector<StringRef> axes;
  rest.split(axes, ',');
  for (StringRef axis : axes) {
    bool isData = is_contained(batchAxes(options), axis) || is_contained(options.along(AxisUse::Sequence), axis);
    if (!isData)
      return makeError(fold + " names '" + axis + "', but only axes of --mesh=" + options.meshText +
                       " that shard the batch or the sequence can shard experts: " + example);
    if (is_contained(options.along(AxisUse::Experts), axis))
      return makeError(fold + " names '" + axis + "' twice");
    options.along(AxisUse::Experts).push_back(axis.str());
  }
  return Error::success();
}

/// Returns whether the mesh has this axis with a single rank, and no layout names it.
static bool hasOneRank(StringRef axis, const ParallelOptions &options) { return is_contained(options.axesOfOne, axis); }

static constexpr StringLiteral kStageOptions[] = {"--schedule", "--stages", "--chunks"};

/// Returns whether the options ask for stages. A single rank can hold several.
static bool requestsStages(const DriverOptions &options) {
  return any_of(kStageOptions, [&](StringRef name) { return options.has(name); });
}

/// Checks that every axis shards something, because ranks with identical work are a mistake. Axes of a single rank are
/// allowed, so that a sweep of sizes can begin with 1.
static Error checkAxesAreUsed(DriverOptions &all) {
  ParallelOptions &options = all.parallel;
  std::string layout;
  if (!options.layout.empty()) {
    auto file = readInputFile(options.layout);
    if (!file)
      return makeError("cannot read the layout '" + options.layout + "': " + toString(file.takeError()));
    layout = (*file)->getBuffer().str();
  }
  for (const MeshAxis &axis : options.mesh) {
    if (axis.name == kTensorAxis)
      options.tensorAxes.push_back(axis.name);
    if (is_contained(kBatchAxes, axis.name) || namesAxis(layout, axis.name))
      continue;
    if (axis.size == 1 && !(axis.name == kStageAxis && requestsStages(all)))
      options.axesOfOne.push_back(axis.name);
    else if (auto known = find_if(kAxes, [&](const AxisName &it) { return it.name == axis.name; });
             known != std::end(kAxes))
      options.along(known->use).push_back(axis.name);
    else
      return makeError("--mesh: nothing is sharded over the axis '" + axis.name + "', so its " + Twine(axis.size) +
                       " ranks would all compute the same; dp, replica and shard shard the batch, cp the sequence, tp "
                       "weights, ep experts and the batch, pp is for stages, and other axes are for " +
                       (layout.empty() ? "a layout (--layout=FILE)" : "the layout '" + options.layout + "'"));
  }
  if (all.passes.tensor.sequence && options.along(AxisUse::Weights).empty() && !hasOneRank(kTensorAxis, options))
    return makeError("--sequence-parallel shards the sequence over tp, but --mesh=" + options.meshText +
                     (layout.empty() ? " has no such axis: add tp, as in --mesh=dp=2,tp=2"
                                     : " leaves tp to the layout '" + options.layout + "': leave one of them out"));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Combinations of options
//===----------------------------------------------------------------------===//

/// Options that shape no program.
static constexpr StringLiteral kOutputOptions[] = {
    "-o",    "--emit", "--report",      "--keep-sources", "--print-pipeline", "-v",
    "--cpu", "--cc",   "--runtime-dir", "--nvcc",         "--transports",     "GRAPH.mlir"};

/// Options that are checked against a plan. A layout shapes the plan, but some meshes are refused without one.
static constexpr StringLiteral kCheckedOptions[] = {"--target", "--mesh", "--layout", "--accumulate"};

StringRef braid::firstPlanOption(const DriverOptions &options) {
  for (const std::string &name : options.given)
    if (!is_contained(kOutputOptions, name) && !is_contained(kCheckedOptions, name))
      return name;
  return "";
}

std::vector<std::string> braid::optionsOfPrograms(const DriverOptions &options) {
  std::vector<std::string> words;
  for (const std::string &word : options.words)
    if (StringRef name = StringRef(word).split('=').first;
        !is_contained(kOutputOptions, name) && name != "--print-ir-after")
      words.push_back(word);
  llvm::sort(words);
  return words;
}

/// Returns an option as it was given: "--zero=3".
static StringRef wordOf(const DriverOptions &all, StringRef name) {
  auto given = find_if(all.words, [&](StringRef word) { return word.split('=').first == name; });
  return given == all.words.end() ? name : StringRef(*given);
}

/// Options of the gathers of sharded parameters.
static constexpr StringLiteral kGatherOptions[] = {"--reshard-after-forward", "--prefetch"};

/// Checks the options that apply only to some stages of ZeRO.
static Error checkStages(const DriverOptions &all) {
  const ParallelOptions &options = all.parallel;
  bool comparesAll = options.compare.has_value();
  int64_t zero = comparesAll ? 3 : options.zero.value_or(0);
  std::string stage = options.zero ? "--zero=" + std::to_string(zero) : "DDP (--zero=0)";
  if ((options.zero || comparesAll) && shardAxes(options).empty())
    return makeError((comparesAll ? "--compare=zero" : "--zero") +
                     std::string(" needs data parallel ranks, but --mesh=") + options.meshText +
                     " has none: name an axis dp, replica, shard, cp or ep");
  for (StringRef name : kGatherOptions)
    if (all.has(name) && zero < 3)
      return makeError(name + " applies to sharded parameters, but " + stage +
                       " keeps them whole: add --zero=3 or leave it out");
  if (all.passes.dataParallel.keepUnreduced && all.accumulate > 1 && zero < 2)
    return makeError(stage + " always reduces gradients only once a step: leave out --unreduced-accumulators, or add "
                             "--zero=2 or 3, where it sends fewer bytes but takes more memory");
  return Error::success();
}

/// Checks the options that --strategy=dataparallel excludes, because one rank, the root, holds all parameters.
static Error checkStrategy(const DriverOptions &all) {
  const ParallelOptions &options = all.parallel;
  struct Excluded {
    bool isGiven;
    StringRef name, reason;
  };
  StringRef bucketReason = "reductions to a root are not bucketed";
  const Excluded excluded[] = {
      {options.zero.has_value(), "--zero", "the root keeps everything, and ZeRO would shard it over all ranks"},
      {all.accumulate > 1, "--accumulate", "the root sends each batch to the others whole"},
      {!options.fold.empty(), "--fold", "the root keeps all weights, those of experts, too"},
      {options.noiseScale, "--noise-scale", "its gradients are reduced to the root tensor by tensor"},
      {options.decomposesCollectives(), "--collectives",
       "the root and its workers run different programs, whose collectives cannot be decomposed"},
      {all.has("--bucket-mb"), "--bucket-mb", bucketReason},
      {all.has("--first-bucket-mb"), "--first-bucket-mb", bucketReason},
  };
  if (!options.strategy)
    return Error::success();
  auto isShared = [](const MeshAxis &axis) { return axis.size > 1; };
  if (count_if(options.mesh, isShared) > 1 || batchAxes(options).empty() || !options.along(AxisUse::Experts).empty())
    return makeError("--strategy=dataparallel needs one axis that shards the batch, but --mesh=" + options.meshText +
                     " has others: write --mesh=dp=4");
  for (const Excluded &option : excluded)
    if (option.isGiven)
      return makeError("--strategy=dataparallel with " + wordOf(all, option.name) + ": " + option.reason +
                       "; leave one of them out");
  return Error::success();
}

void braid::applyRootStrategy(ParallelOptions &options) {
  if (numRanks(options, batchAxes(options)) == 1)
    options.strategy.reset();
  if (!options.strategy)
    return;
  options.axesOfOne.clear();
  options.tensorAxes.clear(); // one rank sends nothing
  options.tpOverlap.reset();
  erase_if(options.mesh, [](const MeshAxis &axis) { return axis.size == 1; });
}

/// Checks the options of stages, and options that have no effect with stages.
static Error checkPipeline(const DriverOptions &all) {
  const ParallelOptions &options = all.parallel;
  if (!options.hasStages()) {
    for (StringRef name : kStageOptions)
      if (all.has(name))
        return makeError(name + " is for stages of a pipeline, but --mesh=" + options.meshText +
                         " has none: add pp, as in --mesh=pp=2,dp=2, or leave it out");
    return Error::success();
  }
  auto refuse = [&](const Twine &option, const Twine &why) {
    return makeError("--mesh=" + options.meshText + " with " + option + ": " + why + "; leave one of them out");
  };
  if (options.strategy)
    return refuse("--strategy=" + StringRef(cli::wordOf(*options.strategy)), "its ranks share one program");
  if (options.noiseScale)
    return refuse("--noise-scale", "gradients of microbatches are not kept apart");
  if (options.compare)
    return refuse("--compare=" + StringRef(cli::wordOf(*options.compare)),
                  "ranks of a pipeline have plans of their own");
  if (!all.hooks.empty())
    return refuse("--hook", "reports of hooks belong to one program");
  if (all.offloads())
    return refuse("--offload", "its copies are planned for one program of a step");
  if (options.zero.value_or(0) == 2)
    return refuse("--zero=2", "gradients are summed over microbatches on each rank; --zero=1 reduces them once a step");
  return Error::success();
}

static std::string tpOverlapText(const ParallelOptions &options) {
  return "--tp-overlap=" + (*options.tpOverlap ? std::to_string(*options.tpOverlap) : "auto");
}

/// Checks the options that need certain axes in the mesh.
static Error checkAxes(const DriverOptions &all) {
  const ParallelOptions &options = all.parallel;
  for (StringRef name : {"--context", "--context-order"})
    if (all.has(name) && options.along(AxisUse::Sequence).empty() && !hasOneRank(kContextAxis, options))
      return makeError(name + " is for ranks that shard the sequence, but --mesh=" + options.meshText +
                       " has no such axis outside of a layout: add cp, as in --mesh=dp=2,cp=2, or leave it out");
  if (options.tpOverlap && options.tensorAxes.empty())
    return makeError(tpOverlapText(options) + " splits collectives over tp, but --mesh=" + options.meshText +
                     " has no such axis: add tp, as in --mesh=dp=2,tp=2, or leave it out");
  if (options.collectives == CollectiveAlgorithm::Hierarchical && options.mesh.size() == 1)
    return makeError("--collectives=hierarchical communicates over one axis after the other, but --mesh=" +
                     options.meshText + " has only one: split it, as in --mesh=replica=2,shard=2");
  if (options.noiseScale && numRanks(options, options.along(AxisUse::Experts)) > 1)
    return makeError("--noise-scale with --mesh=" + options.meshText +
                     ": it compares gradients of each rank's own rows, but gradients of experts come from the rows of "
                     "all ranks along " +
                     join(options.along(AxisUse::Experts), ",") + "; leave one of them out");
  if (options.noiseScale && numRanks(options, batchAxes(options)) == 1)
    return makeError("--noise-scale compares the gradients of data parallel ranks, but --mesh=" + options.meshText +
                     " has only one: give dp, replica or shard more than 1 rank");
  return Error::success();
}

/// Checks that the mesh, or some mesh of a comparison, has each axis for which --link gives a link.
static Error checkLinks(const DriverOptions &all) {
  std::optional<SmallVector<LinkText>> links = readLinks(all.passes.machine.link);
  SmallVector<StringRef> known = map_to_vector(kAxes, [](const AxisName &axis) -> StringRef { return axis.name; });
  if (all.parallel.compare != Compared::Mesh)
    known = map_to_vector(all.parallel.mesh, [](const MeshAxis &axis) -> StringRef { return axis.name; });
  for (const LinkText &link : links &&all.has("--link") ? *links : SmallVector<LinkText>())
    if (!link.axis.empty() && !is_contained(known, link.axis))
      return makeError("--link=" + all.passes.machine.link + ": unknown mesh axis '" + link.axis +
                       "' (axes of --mesh=" + all.parallel.meshText + ": " + join(known, ", ") + ")");
  return Error::success();
}

/// Checks the combinations of options that do not depend on the mesh.
static Error checkCombinations(const DriverOptions &all) {
  const ParallelOptions &options = all.parallel;
  if (Error error = checkLinks(all))
    return error;
  if (all.passes.buckets.bucketMb == "auto" && all.passes.machine.link.empty())
    return makeError("--bucket-mb=auto needs the rates of the link: add --link=latency_us,GBps");
  const BucketPassOptions &buckets = all.passes.buckets;
  if (all.has("--first-bucket-mb") && (buckets.bucketMb == "0" || buckets.bucketMb == "inf"))
    return makeError("--first-bucket-mb=" + buckets.firstBucketMb + " with --bucket-mb=" + buckets.bucketMb +
                     ": the first bucket cannot have a size of its own; leave --first-bucket-mb out");
  if (!options.transports.empty() && all.emit < Emit::Dir)
    return makeError("--transports applies to the binary: leave --emit out, or write --emit=dir");
  if (all.has("--comm-ctas") && !targetOf(all).onDevice())
    return makeError("--comm-ctas=" + Twine(int64_t(all.passes.share.ctas)) + " with --target=" +
                     all.passes.target.name + ": a CTA is a thread block of a GPU; leave it out, or add --target=cuda");
  if (all.has("--prefetch") && options.overlap == Overlap::None)
    return makeError("--prefetch=" + Twine(int64_t(all.passes.overlap.prefetch)) +
                     " with --overlap=none: only overlapped gathers are prefetched; leave one of them out");
  if (options.tpOverlap && options.overlap == Overlap::None)
    return makeError(tpOverlapText(options) + " with --overlap=none: chunks only serve overlap; leave one of them out");
  if (all.passes.dataParallel.keepUnreduced && all.accumulate == 1)
    return makeError("--unreduced-accumulators with --accumulate=1: a single microbatch has no accumulators");
  return Error::success();
}

DriverOptions braid::optionsOfStage(const DriverOptions &options, int64_t zero) {
  DriverOptions stage = options;
  ParallelOptions &parallel = stage.parallel;
  parallel.compare.reset();
  parallel.zero = zero;
  stage.passes.dataParallel.keepUnreduced &= zero >= 2;
  if (zero < 3) {
    stage.passes.units = {};
    stage.passes.overlap = {};
    erase_if(stage.given, [](StringRef name) { return is_contained(kGatherOptions, name); });
  }
  stage.emit = Emit::Memory;
  stage.passes.plan.memoryLimit.clear();
  return stage;
}

/// Resolves --mesh=8 for --compare=mesh, and refuses other options that would fix the mesh.
static Error resolveComparedMeshes(DriverOptions &options) {
  ParallelOptions &parallel = options.parallel;
  std::optional<int64_t> ranks = ranksAlone(parallel);
  if (!ranks) {
    if (Error error = readMesh(parallel))
      return error;
    int64_t product = 1;
    for (const MeshAxis &axis : parallel.mesh)
      product *= axis.size;
    return makeError("--compare=mesh tries all meshes, but --mesh=" + parallel.meshText +
                     " is one: give the number of ranks, as in --mesh=" + Twine(product) + ", or leave --compare out");
  }
  if (*ranks < 2 || *ranks > kMaxMeshRanks)
    return makeError("--compare=mesh with --mesh=" + parallel.meshText + ": the number of ranks must be from 2 to " +
                     Twine(kMaxMeshRanks));
  for (auto [option, value] : {std::pair("--layout=", &parallel.layout), {"--fold=", &parallel.fold}})
    if (!value->empty())
      return makeError(Twine("--compare=mesh tries all meshes, but ") + option + *value +
                       " names the axes of one mesh: leave one of them out");
  parallel.ranks = *ranks;
  return checkCombinations(options);
}

Error braid::resolveParallelOptions(DriverOptions &options) {
  ParallelOptions &parallel = options.parallel;
  if (parallel.meshText.empty()) {
    if (options.emit == Emit::Comm)
      return makeError("--emit=comm needs several ranks: add --mesh, as in --mesh=dp=4");
    return Error::success();
  }
  if (parallel.compare == Compared::Mesh)
    return resolveComparedMeshes(options);
  if (Error error = readMesh(parallel))
    return error;
  if (Error error = checkAxesAreUsed(options))
    return error;
  if (Error error = parseFold(parallel))
    return error;
  if (Error error = checkStages(options))
    return error;
  if (Error error = checkStrategy(options))
    return error;
  applyRootStrategy(parallel);
  if (Error error = checkPipeline(options))
    return error;
  if (Error error = checkAxes(options))
    return error;
  return checkCombinations(options);
}
