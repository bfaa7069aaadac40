//===- main.cpp - braid-schedule: schedules of pipelines ------------------===//

#include "cli/StandardFiles.h"
#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Timeline.h"
#include "tools/Failures.h"
#include "tools/braid-schedule/Summary.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace braid::pipeline;
using namespace braid::schedule;

/// Writes to a file through a temporary name, or to standard output.
static Error write(StringRef file, function_ref<Error(raw_ostream &)> print) {
  if (file == "-")
    return print(outs());
  if (Error error = writeToOutput(file, print))
    return failure("{0}: {1}", file, toString(std::move(error)));
  return Error::success();
}

static Error writeFiles(const Options &options, const Result &result) {
  if (options.csv)
    if (Error error = write(*options.csv, [&](raw_ostream &os) {
          if (options.messages)
            writeCsv(result.schedule, result.messages, os);
          else
            writeCsv(result.schedule.getTable(), os);
          return Error::success();
        }))
      return error;
  if (options.svg)
    return write(*options.svg, [&](raw_ostream &os) {
      return writeSvg(result.schedule, result.simulation, titleOf(options, result), os);
    });
  return Error::success();
}

/// Compares all named schedules one after the other; for those that do not fit, prints the reason.
static Error compareSchedules(Options options) {
  if (!options.ranks || !options.microbatches)
    return failure("comparing schedules needs the numbers of ranks and microbatches: give --stages and --microbatches, "
                   "or --schedule");
  std::vector<std::pair<std::string, Expected<Result>>> results;
  for (const Generator *generator : generators()) {
    options.schedule = generator->name;
    results.emplace_back(options.schedule, resultOf(options));
  }
  printComparison(options, results, outs());
  return Error::success();
}

static Error run(const Options &options) {
  if (options.schedule.empty())
    return compareSchedules(options);
  Expected<Result> result = resultOf(options);
  if (!result)
    return result.takeError();
  if (Error error = writeFiles(options, *result))
    return error;
  printSummary(options, *result, options.csv == "-" || options.svg == "-" ? errs() : outs());
  return Error::success();
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-schedule");
  InitLLVM init(argc, argv);
  if (Error error = run(parseOptions(argc, argv))) {
    errs() << "braid-schedule: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
