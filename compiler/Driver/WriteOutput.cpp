//===- WriteOutput.cpp - writes what --emit and --report name -------------===//

#include "compiler/Driver/WriteOutput.h"
#include "compiler/Codegen/Codegen.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/PlannedText.h"
#include "compiler/Driver/ReadGraph.h"
#include "compiler/Driver/SourceFolder.h"
#include "compiler/Driver/Toolchain.h"
#include "lib/Target/TargetInfo.h"

using namespace mlir;
using namespace braid;

LogicalResult braid::writeModule(ModuleOp module, const DriverOptions &options) {
  return reportError(writeTextFile(options.output.empty() ? "-" : options.output, writeGraph(module)));
}

static LogicalResult writeBinary(ArrayRef<SourceFile> files, const DriverOptions &options, const char *program) {
  auto runtime = findRuntime(options, program);
  if (!runtime)
    return reportError(runtime.takeError());
  if (options.emit == Emit::Dir)
    return reportError(writeSourceFolder(options.output, files, *runtime, options, "train"));

  auto temporary = TemporaryFolder::create();
  if (!temporary)
    return reportError(temporary.takeError());
  std::string folder = options.keepSources.empty() ? temporary->path : options.keepSources;
  if (failed(reportError(writeSources(folder, files))))
    return failure();
  return reportError(replaceFile(
      options.output, [&](StringRef path) { return compileBinary(folder, temporary->path, *runtime, options, path); }));
}

static LogicalResult emitSources(ModuleOp module, const Report &summary, const DriverOptions &options,
                                 PhaseClock &clock, const char *program) {
  // Leaves out times, so that the same graph gives the same sources.
  std::string plan = planJson(summary, {});
  FailureOr<std::vector<SourceFile>> files = failure();
  if (failed(clock.time("translate", [&] { return files = generateSources(module, plan); })))
    return failure();

  bool isSources = options.emit == Emit::Cpp || options.emit == Emit::Cu;
  if (isSources && (options.output.empty() || options.output == "-")) {
    std::string text;
    for (const SourceFile &file : *files)
      text += "//===- " + file.name + " " + std::string(66 - file.name.size(), '-') + "===//\n\n" + file.text + "\n";
    return reportError(writeTextFile("-", text));
  }
  files->push_back({"actions.json", actionsJson(module, *targetOf(module), options.accumulate)});
  if (isSources)
    return reportError(writeSources(options.output, *files));
  return clock.time("compile", [&] { return writeBinary(*files, options, program); });
}

/// Returns the title of the report: the model, its mesh, and the given options that shape its plan.
static std::string titleOf(ModuleOp module, const DriverOptions &options) {
  static constexpr StringLiteral kElsewhere[] = {"-o", "-v", "--emit", "--report", "--mesh"};
  std::string title = modelName(module, options);
  if (options.parallel.isParallel())
    title += " on " + options.parallel.meshText;
  for (const std::string &word : options.words)
    if (!llvm::is_contained(kElsewhere, StringRef(word).split('=').first))
      title += " " + word;
  return title;
}

static LogicalResult writeReport(ModuleOp module, const Report &summary, const DriverOptions &options,
                                 const PhaseClock &clock) {
  if (options.report == "-") {
    std::string table;
    llvm::raw_string_ostream os(table);
    printReport(os, summary);
    return reportError(writeTextFile("-", table));
  }
  if (options.report.empty())
    return success();
  std::string plan = planJson(summary, clock.seconds());
  if (isPage(options.report))
    plan = planHtml(titleOf(module, options), plan, actionsJson(module, *targetOf(module), options.accumulate));
  return reportError(writeTextFile(options.report, plan));
}

LogicalResult braid::writeOutput(ModuleOp module, const Report &summary, const DriverOptions &options,
                                 PhaseClock &clock, const char *program) {
  return success(succeeded(options.emit == Emit::Memory ? writeModule(module, options)
                                                        : emitSources(module, summary, options, clock, program)) &&
                 succeeded(writeReport(module, summary, options, clock)));
}
