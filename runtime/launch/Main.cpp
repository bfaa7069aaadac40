//===- Main.cpp - from a command line to an exit status -------------------===//
//
// Exit status: 0 done, 1 an error that was reported, 2 a command line that
// makes no sense, 130 and 143 stopped by Ctrl-C and SIGTERM.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "cli/Reader.h"
#include "core/Mesh.h"
#include "launch/CommandLine.h"

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
  CommandLine line = parseCommandLine(argc, argv, *model);
  if (!line.error.empty()) {
    report(line.error.c_str());
    return cli::kUsageStatus;
  }
  if (!line.command) { // the help and the version are the same on all ranks
    if (findOwnLaunch(/*lenient=*/true).rank == 0)
      std::fputs(line.answer.c_str(), stdout);
    return 0;
  }
  const Invocation &said = line.invocation;
  try {
    const bool isInfo = line.command == &kInfo;
    Launch launch = findOwnLaunch(said.ranks.ranks || isInfo);
    if (isInfo)
      return launch.rank == 0 ? runInfo(*model, said.info) : 0;
    RankPlan plan = planRanks(*model, said.ranks, launch);
    // Each rank has the model of its kind.
    auto onRanks = [&](auto options, auto command) {
      return runRanks(*model, plan, said.ranks, [&](const Rank &rank, int threads) {
        auto own = options;
        own.threads = threads;
        return command(modelOf(*model, rank.number), own, rank);
      });
    };
    if (line.command == &kTrain)
      return onRanks(said.train, runTrain);
    if (line.command == &kEval)
      return onRanks(said.eval, runEval);
    if (line.command == &kSample)
      return onRanks(said.sample, runSample);
    RunOutputs outputs(plan.here);
    return onRanks(said.run, [&](auto &table, auto &o, auto &rank) { return runOnce(table, o, rank, outputs); });
  } catch (const Error &error) {
    return report(error.what());
  } catch (const std::bad_alloc &) {
    return report("out of memory outside the arena");
  } catch (const std::exception &error) {
    return report(error.what());
  }
}
