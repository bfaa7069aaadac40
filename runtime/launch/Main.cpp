//===- Main.cpp - from a command line to an exit status -------------------===//
//
// Exit status: 0 done, 1 an error that was reported, 2 a command line that
// makes no sense, 130 and 143 stopped by Ctrl-C and SIGTERM.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "core/Mesh.h"
#include "launch/CommandLine.h"
#include "launch/Ranks.h"
#include "train/Commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

using namespace braid;

namespace {

// Who started this process; who does not ask for ranks may have nonsense in the
// environment.
Launch findOwnLaunch(bool lenient) {
  try {
    return findLaunch([](const char *name) { return std::getenv(name); });
  } catch (const Error &) {
    if (!lenient)
      throw;
    return {};
  }
}

int report(const char *message) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", message);
  return 1;
}

} // namespace

int br_main(int argc, char **argv, const br_model *model) {
  CLI::App app(concat("Trains and runs the model '", model->name,
                      "', compiled ahead of time by Braid.\n"
                      "Each command has its own --help."));
  app.set_version_flag("--version",
                       concat("braid runtime, interface version ", BR_ABI_VERSION, ", model ", model->name));
  app.require_subcommand(1);
  TrainOptions train;
  EvalOptions eval;
  SampleOptions sample;
  InfoOptions info;
  RunOptions run;
  RankOptions ranks;
  CLI::App *trainCommand = addTrain(app, train, ranks), *evalCommand = addEval(app, eval, ranks),
           *sampleCommand = addSample(app, sample, ranks), *infoCommand = addInfo(app, info),
           *runCommand = addRun(app, run, ranks);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and the version are the same on all ranks.
    bool isHelp = error.get_exit_code() == 0;
    if (isHelp && findOwnLaunch(/*lenient=*/true).rank > 0)
      return 0;
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    Launch launch = findOwnLaunch(ranks.ranks || infoCommand->parsed());
    if (infoCommand->parsed())
      return launch.rank == 0 ? runInfo(*model, info) : 0;
    RankPlan plan = planRanks(*model, ranks, launch);
    // Each rank has the model of its kind.
    auto onRanks = [&](auto options, auto command) {
      return runRanks(*model, plan, ranks, [&](const Rank &rank, int threads) {
        auto own = options;
        own.threads = threads;
        return command(modelOf(*model, rank.number), own, rank);
      });
    };
    if (trainCommand->parsed())
      return onRanks(train, runTrain);
    if (evalCommand->parsed())
      return onRanks(eval, runEval);
    if (sampleCommand->parsed())
      return onRanks(sample, runSample);
    if (runCommand->parsed()) {
      RunOutputs outputs(plan.here);
      return onRanks(run, [&](auto &table, auto &o, auto &rank) { return runOnce(table, o, rank, outputs); });
    }
  } catch (const Error &error) {
    return report(error.what());
  } catch (const std::bad_alloc &) {
    return report("out of memory outside the arena");
  } catch (const std::exception &error) {
    return report(error.what());
  }
  return 2;
}
