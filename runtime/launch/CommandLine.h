//===- CommandLine.h - what can be said to a training binary --------------===//
//
// The commands with their options, checks and help.  Each function adds a command that
// fills the options it is given, which live as long as the application.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LAUNCH_COMMANDLINE_H
#define BRAID_LAUNCH_COMMANDLINE_H

namespace CLI {
class App;
} // namespace CLI

namespace braid {

struct TrainOptions;
struct EvalOptions;
struct SampleOptions;
struct InfoOptions;
struct RunOptions;
struct RankOptions;

CLI::App *addTrain(CLI::App &app, TrainOptions &options, RankOptions &ranks);
CLI::App *addEval(CLI::App &app, EvalOptions &options, RankOptions &ranks);
CLI::App *addSample(CLI::App &app, SampleOptions &options, RankOptions &ranks);
CLI::App *addInfo(CLI::App &app, InfoOptions &options);
CLI::App *addRun(CLI::App &app, RunOptions &options, RankOptions &ranks);

} // namespace braid
#endif // BRAID_LAUNCH_COMMANDLINE_H
