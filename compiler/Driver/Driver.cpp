//===- Driver.cpp - from a graph to a training binary ---------------------===//

#include "compiler/Driver/Driver.h"
#include "braid/InitAll.h"
#include "compiler/Codegen/Codegen.h"
#include "compiler/Driver/CheckGraph.h"
#include "compiler/Driver/Compare.h"
#include "compiler/Driver/CompareMeshes.h"
#include "compiler/Driver/GraphFacts.h"
#include "compiler/Driver/Hooks.h"
#include "compiler/Driver/LossChunks.h"
#include "compiler/Driver/LowerGraph.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/ParallelOptions.h"
#include "compiler/Driver/Pipeline.h"
#include "compiler/Driver/PrecisionOptions.h"
#include "compiler/Driver/PrintIr.h"
#include "compiler/Driver/ReadGraph.h"
#include "compiler/Driver/RecomputeOptions.h"
#include "compiler/Driver/SourceFolder.h"
#include "compiler/Driver/TargetOptions.h"
#include "compiler/Driver/Toolchain.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/TG/TrainingFacts.h"
#include "lib/Input/SourceDiagnostics.h"
#include "lib/Memory/Size.h"
#include "lib/Pipeline/Simulate.h"
#include "lib/Schedule/PipelineTable.h"
#include "lib/Sharding/GlobalFunction.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace braid;

namespace {

class Driver {
public:
  Driver(const DriverOptions &options, const char *program) : options(options), program(program) {}
  LogicalResult run();
  LogicalResult printPipeline();

private:
  LogicalResult checkOptions();
  LogicalResult readInput();
  LogicalResult checkPlanned();
  LogicalResult takeMicrobatches(const std::string &planned);
  LogicalResult compare();
  LogicalResult compareStages();
  LogicalResult compareMeshes();
  std::optional<int64_t> memoryLimit() const;
  LogicalResult checkHooks();
  LogicalResult lower();
  LogicalResult goOnFromActions();
  LogicalResult warnOfIdleRanks();
  LogicalResult emitModule();
  LogicalResult emitSources(const Report &summary);
  LogicalResult writeReport(const Report &summary);
  LogicalResult emitBinary(ArrayRef<SourceFile> sources);
  LogicalResult report(llvm::Error error);
  bool listsHooks() const { return llvm::is_contained(options.hooks, kListHooks); }
  bool isInMemoryForm() { return !module->getOps<exec::ProgramOp>().empty(); }
  std::string modelName();
  std::string reportTitle();

  DriverOptions options;
  const char *program;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  std::optional<SourceDiagnostics> handler;
  OwningOpRef<ModuleOp> module;
  PhaseClock clock{options.verbose};
  std::vector<ReplayReport> replays; // the choices of --recompute=auto
};

} // namespace

LogicalResult Driver::report(llvm::Error error) {
  if (!error)
    return success();
  llvm::WithColor::error(llvm::errs(), "braidc") << toString(std::move(error)) << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

LogicalResult Driver::readInput() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);

  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!file)
    return report(makeError("cannot read '" + options.input + "': " + file.getError().message()));
  sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  handler.emplace("braidc", sources, &context);
  context.printOpOnDiagnostic(false); // the source line is enough
  module = readGraph(sources, &context);
  return success(static_cast<bool>(module));
}

/// Returns the axes of the mesh; empty for a module of one rank.
static std::vector<MeshAxis> meshOf(ModuleOp module) {
  std::vector<MeshAxis> axes;
  for (auto op : module.getOps<comm::MeshOp>()) {
    comm::Mesh mesh(op);
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      axes.push_back({name.str(), size});
  }
  return axes;
}

/// Checks the options for a module in memory form (from --emit=memory), which only needs translation. Refuses options
/// that shape a plan; the remaining options must agree with the existing plan.
LogicalResult Driver::checkPlanned() {
  std::string planned = "'" + options.input + "' is planned already";
  if (llvm::StringRef late = optionOfPlan(options); !late.empty())
    return report(makeError(planned + ", which " + late + " would be about: leave it out, or compile the graph"));
  std::string mesh = meshText(meshOf(*module)), said = meshText(options.parallel.mesh);
  if (!said.empty() && said != mesh)
    return report(makeError(planned + ", for " + (mesh.empty() ? "one rank" : "--mesh=" + mesh) +
                            ", and not for --mesh=" + options.parallel.meshText));
  auto target = (*module)->getAttrOfType<exec::TargetAttr>(exec::ExecDialect::kTarget);
  if (target && target.getName() != options.passes.target.name)
    return report(makeError(planned + ", for --target=" + target.getName() +
                            ", and not for --target=" + options.passes.target.name));
  (*module)->setAttr(exec::ExecDialect::kTarget,
                     targetAttr(&context, options.passes.target.name, options.passes.target.arch));
  return takeMicrobatches(planned);
}

/// Takes the microbatches of a step from the facts or from the table of a pipeline. Other programs show only whether
/// there are several microbatches.
LogicalResult Driver::takeMicrobatches(const std::string &planned) {
  std::optional<tg::TrainingFacts> facts = tg::TrainingFacts::of(*module);
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(*module);
  if (failed(table))
    return failure();
  auto addsUp = [](exec::ProgramOp program) { return program.getSymName() == "accumulate"; };
  bool hasMicrobatches = llvm::any_of(module->getOps<exec::ProgramOp>(), addsUp);
  if (facts || *table) {
    int64_t count = facts ? facts->microbatches : (*table)->getSchedule().numMicrobatches();
    if (options.has("--accumulate") && options.accumulate != count)
      return report(makeError(planned + ", for --accumulate=" + std::to_string(count) +
                              ", and not for --accumulate=" + std::to_string(options.accumulate)));
    options.accumulate = count;
  } else if (hasMicrobatches != (options.accumulate > 1)) {
    return report(makeError(planned + (hasMicrobatches ? ", with microbatches: say how many by --accumulate"
                                                       : ", without microbatches: leave --accumulate out")));
  }
  if (!facts)
    tg::TrainingFacts{modelName(), /*optimizer=*/"", options.accumulate}.attachTo(*module);
  return success();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

LogicalResult Driver::emitModule() {
  return report(writeTextFile(options.output.empty() ? "-" : options.output, writeGraph(*module)));
}

LogicalResult Driver::emitBinary(ArrayRef<SourceFile> files) {
  auto runtime = findRuntime(options, program);
  if (!runtime)
    return report(runtime.takeError());
  if (options.emit == Emit::Dir)
    return report(writeSourceFolder(options.output, files, *runtime, options, "train"));

  auto temporary = TemporaryFolder::create();
  if (!temporary)
    return report(temporary.takeError());
  std::string folder = options.keepSources.empty() ? temporary->path : options.keepSources;
  if (failed(report(writeSources(folder, files))))
    return failure();
  return report(replaceFile(
      options.output, [&](StringRef path) { return compileBinary(folder, temporary->path, *runtime, options, path); }));
}

LogicalResult Driver::emitSources(const Report &summary) {
  // Leaves out times, so that the same graph gives the same sources.
  std::string plan = planJson(summary, {});
  FailureOr<std::vector<SourceFile>> files = failure();
  if (failed(clock.time("translate", [&] { return files = generateSources(*module, plan); })))
    return failure();

  bool isSources = options.emit == Emit::Cpp || options.emit == Emit::Cu;
  if (isSources && (options.output.empty() || options.output == "-")) {
    std::string text;
    for (const SourceFile &file : *files)
      text += "//===- " + file.name + " " + std::string(66 - file.name.size(), '-') + "===//\n\n" + file.text + "\n";
    return report(writeTextFile("-", text));
  }
  files->push_back({"actions.json", actionsJson(*module, *targetOf(*module), options.accumulate)});
  if (isSources) {
    if (failed(report(writeSources(options.output, *files))))
      return failure();
  } else if (failed(clock.time("compile", [&] { return emitBinary(*files); }))) {
    return failure();
  }
  return success();
}

/// Returns the file name for a graph, or the graph name that text of a later level states.
std::string Driver::modelName() {
  std::optional<tg::TrainingFacts> facts = tg::TrainingFacts::of(*module);
  return facts ? facts->model : llvm::sys::path::stem(options.input).str();
}

/// Returns whether `path` names an HTML page.
static bool isPage(StringRef path) { return path.ends_with(".html"); }

/// Returns the title of the report: the model, its mesh, and the given options that shape its plan.
std::string Driver::reportTitle() {
  static constexpr StringLiteral kElsewhere[] = {"-o", "-v", "--emit", "--report", "--mesh"};
  std::string title = modelName();
  if (options.parallel.isParallel())
    title += " on " + options.parallel.meshText;
  for (const std::string &word : options.words)
    if (!llvm::is_contained(kElsewhere, StringRef(word).split('=').first))
      title += " " + word;
  return title;
}

LogicalResult Driver::writeReport(const Report &summary) {
  if (options.report == "-") {
    std::string table;
    llvm::raw_string_ostream os(table);
    printReport(os, summary);
    return report(writeTextFile("-", table));
  }
  if (options.report.empty())
    return success();
  std::string plan = planJson(summary, clock.seconds());
  if (isPage(options.report))
    plan = planHtml(reportTitle(), plan, actionsJson(*module, *targetOf(*module), options.accumulate));
  return report(writeTextFile(options.report, plan));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::optional<int64_t> Driver::memoryLimit() const {
  return options.passes.plan.memoryLimit.empty() ? std::nullopt : parseSize(options.passes.plan.memoryLimit);
}

LogicalResult Driver::compare() {
  if (isInMemoryForm())
    return report(makeError("--compare=" + StringRef(cli::wordOf(*options.parallel.compare)) + " needs a graph, and '" +
                            options.input + "' is planned already"));
  if (failed(checkGraph(*module, options)))
    return failure();
  return options.parallel.compare == Compared::Mesh ? compareMeshes() : compareStages();
}

/// Plans the graph for every stage of ZeRO.
LogicalResult Driver::compareStages() {
  Comparison comparison;
  auto plan = [&](const DriverOptions &stage) -> FailureOr<Report> {
    OwningOpRef<ModuleOp> copy = module->clone();
    if (failed(Lowering(stage, clock).run(*copy)))
      return failure();
    return readReport(*copy, targetOf(*copy)->alignment, options.accumulate);
  };
  for (int64_t zero = 0; zero <= 3; ++zero) {
    FailureOr<Report> stage = plan(optionsOfStage(options, zero));
    if (failed(stage))
      return failure();
    comparison.stages.push_back({zero, std::move(*stage)});
  }
  // --strategy=dataparallel has one axis, and its ranks have no microbatches of their own.
  auto isShared = [](const MeshAxis &axis) { return axis.size > 1; };
  bool mayHaveRoot = llvm::count_if(options.parallel.mesh, isShared) == 1 &&
                     numRanks(options.parallel, batchAxes(options.parallel)) > 1 &&
                     options.parallel.along(AxisUse::Experts).empty() && options.accumulate == 1;
  if (mayHaveRoot) {
    DriverOptions classic = optionsOfStage(options, 0);
    classic.parallel.strategy = Strategy::DataParallel;
    useRoot(classic.parallel);
    FailureOr<Report> root = plan(classic);
    if (failed(root))
      return failure();
    comparison.rootParallel = std::move(*root);
  }
  comparison.memory = memoryOfRank(memoryLimit(), comparison.stages.front().report.traffic.ranks);
  if (!options.report.empty() && options.report != "-")
    return report(writeTextFile(options.report, comparisonJson(comparison)));
  std::string table;
  llvm::raw_string_ostream os(table);
  printComparison(os, comparison);
  return report(writeTextFile("-", table));
}

/// Plans the graph for every mesh of the given number of ranks.
LogicalResult Driver::compareMeshes() {
  MeshComparison comparison = braid::compareMeshes(*module, options, clock);
  comparison.memoryLimit = memoryLimit();
  std::string table;
  llvm::raw_string_ostream os(table);
  printComparison(os, comparison);
  bool toFile = !options.report.empty() && options.report != "-";
  if (failed(report(toFile ? writeTextFile(options.report, comparisonJson(comparison)) : writeTextFile("-", table))))
    return failure();
  return report(comparison.meshes.empty() ? makeError("--compare=mesh: none of the layouts of " +
                                                      llvm::Twine(comparison.ranks) + " ranks is possible")
                                          : llvm::Error::success());
}

/// Returns whether two paths name the same file, which need not exist yet.
static bool isSameFile(llvm::StringRef a, llvm::StringRef b) {
  return !a.empty() && a != "-" && (a == b || llvm::sys::fs::equivalent(a, b));
}

/// Returns whether a module or sources go to standard output.
static bool printsOutput(const DriverOptions &options) {
  return !options.parallel.compare && options.emit < Emit::Dir && (options.output.empty() || options.output == "-");
}

/// Refuses output paths that would overwrite the input or another output.
static llvm::Error checkPlaces(const DriverOptions &options) {
  if (options.report == "-" && printsOutput(options))
    return makeError("--report=- and the output would mix on standard output: name a file for one of them");
  if (isSameFile(options.input, options.output))
    return makeError("the output '" + options.output + "' is the graph itself");
  if (isSameFile(options.input, options.report))
    return makeError("--report=" + options.report + " is the graph itself");
  if (isSameFile(options.output, options.report))
    return makeError("--report=" + options.report + " is the output, too: give one of them another name");
  return llvm::Error::success();
}

/// Resolves and checks the options that shape programs.
static llvm::Error resolveOptions(DriverOptions &options) {
  for (auto resolve : {resolveTarget, resolveParallelOptions})
    if (llvm::Error error = resolve(options))
      return error;
  for (auto check : {checkPrecisionOptions, checkWithout, checkRecomputeOptions, checkLossChunk})
    if (llvm::Error error = check(options))
      return error;
  return llvm::Error::success();
}

/// Refuses wrong options before any work is done.
LogicalResult Driver::checkOptions() {
  if (options.input.empty())
    return report(makeError("no graph is named; braid-model writes one"));
  if (failed(report(resolveOptions(options))))
    return failure();
  bool compares = options.parallel.compare.has_value();
  if (!compares && failed(report(checkCompiler(options))))
    return failure();
  if (options.output.empty() && options.emit >= Emit::Dir && !compares && !listsHooks())
    return report(makeError("no output is named; give one by -o"));
  if (!options.report.empty() && options.emit < Emit::Memory)
    return report(makeError("--report needs a memory plan, which --emit=tg, comm and exec do not make: leave --emit "
                            "out, or emit memory, cpp, cu, dir or exe"));
  if (isPage(options.report) && compares)
    return report(makeError("--report=" + options.report +
                            " shows one plan, and --compare makes several: name another "
                            "file for JSON, or leave --compare out"));
  if (!options.passes.plan.memoryLimit.empty() && options.emit < Emit::Memory)
    return report(makeError("--memory-limit needs a memory plan, which --emit=tg, comm and exec do not make"));
  if (failed(report(checkPlaces(options))))
    return failure();
  bool writes = !compares && !listsHooks();
  if (options.emit == Emit::Exe && writes && failed(report(checkWritable(options.output))))
    return failure();
  if (options.emit == Emit::Dir && writes && failed(report(checkSourceFolder(options.output))))
    return failure();
  return options.report.empty() || options.report == "-" ? success() : report(checkWritable(options.report));
}

/// Checks hooks against the points of the graph. The points exist only after differentiation, so a copy without hooks
/// is differentiated: hooks on activations must be attached before.
LogicalResult Driver::checkHooks() {
  DriverOptions bare = options;
  bare.hooks = {kListHooks.str()};
  bare.printIrAfter.clear();
  PhaseClock untimed(/*verbose=*/false);
  OwningOpRef<ModuleOp> copy = module->clone();
  ScopedDiagnosticHandler filter(
      &context, [](Diagnostic &diagnostic) { return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark); });
  if (failed(Lowering(bare, untimed).runThrough(*copy, "differentiate")))
    return failure();
  if (!listsHooks())
    return report(braid::checkHooks(*copy, options));
  printHookPoints(llvm::outs(), *copy);
  return success();
}

LogicalResult Driver::lower() {
  tg::TrainingFacts facts = factsOf(*module->getOps<func::FuncOp>().begin(), modelName(), options);
  if (recomputesForLimit(options))
    options.passes.recompute.policy = RecomputePolicy::Auto;
  if (failed(report(checkPrintedPasses(options))))
    return failure();
  if (failed(lowerGraph(*module, options, clock, replays)))
    return failure();
  facts.replays = replaysJson(replays);
  facts.attachTo(*module);
  return warnOfIdleRanks();
}

/// Warns if a step of a pipeline has fewer microbatches than the pipeline has ranks, because ranks then wait most.
LogicalResult Driver::warnOfIdleRanks() {
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(*module);
  if (failed(table) || !*table)
    return LogicalResult(table);
  const pipeline::Schedule &schedule = (*table)->getSchedule();
  const unsigned ranks = schedule.numRanks(), microbatches = schedule.numMicrobatches();
  if (microbatches >= ranks)
    return success();
  const std::vector<pipeline::StageTimes> alike(schedule.numStages());
  const double idle = pipeline::simulate(schedule, alike).bubble;
  llvm::WithColor::warning(llvm::errs(), "braidc")
      << llvm::formatv("the ranks along pp are idle for {0:F0} % of a step, which has fewer microbatches "
                       "(--accumulate={1}) than there are stages behind each other ({2}): take --accumulate={2} or "
                       "more, of a larger batch if need be\n",
                       100 * idle, microbatches, ranks);
  return success();
}

/// Plans the memory of actions, as --emit=exec writes them. The options that shape programs must equal those of
/// --emit=exec, because some of them also shape the plan.
LogicalResult Driver::goOnFromActions() {
  tg::TrainingFacts facts = *tg::TrainingFacts::of(*module);
  WalkResult found = module->walk([](Operation *op) {
    bool isAction = isa<exec::ExecDialect>(op->getDialect()) && op->getParentOfType<func::FuncOp>();
    return isAction ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted() || options.emit < Emit::Exec)
    return report(makeError("'" + options.input + "' is compiled in part, and goes on from --emit=exec or memory to " +
                            "what follows these alone: compile the graph"));
  if (std::vector<std::string> given = optionsOfPrograms(options); given != facts.options)
    return report(makeError("'" + options.input + "' was compiled with '" + llvm::join(facts.options, " ") +
                            "', and not with '" + llvm::join(given, " ") +
                            "': give the same options, or compile the graph"));
  if (options.emit == Emit::Exec)
    return success();
  facts.options.clear();
  facts.attachTo(*module);
  return Lowering(options, clock).runMemory(*module);
}

LogicalResult Driver::run() {
  if (failed(checkOptions()) || failed(readInput()))
    return failure();

  if (options.parallel.compare)
    return compare();

  if (isInMemoryForm()) {
    if (failed(checkPlanned()))
      return failure();
  } else if (tg::TrainingFacts::of(*module)) {
    if (failed(goOnFromActions()))
      return failure();
  } else {
    if (failed(checkGraph(*module, options)) || (!options.hooks.empty() && failed(checkHooks())))
      return failure();
    if (listsHooks())
      return success();
    if (failed(lower()))
      return failure();
  }
  if (options.emit < Emit::Memory)
    return emitModule();
  Report summary = readReport(*module, targetOf(*module)->alignment, options.accumulate);
  summary.replays = replays;
  summary.replaysJson = tg::TrainingFacts::of(*module)->replays;
  return success(succeeded(options.emit == Emit::Memory ? emitModule() : emitSources(summary)) &&
                 succeeded(writeReport(summary)));
}

LogicalResult Driver::printPipeline() {
  if (failed(report(resolveOptions(options))))
    return failure();
  braid::printPipeline(llvm::outs(), options);
  llvm::outs() << "\n";
  return success();
}

int braid::runDriver(const DriverOptions &options, const char *program) {
  Driver driver(options, program);
  return failed(options.printPipeline ? driver.printPipeline() : driver.run());
}
