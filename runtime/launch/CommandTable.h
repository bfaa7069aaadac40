//===- CommandTable.h - commands of a training binary ---------------------===//
#ifndef BRAID_LAUNCH_COMMANDTABLE_H
#define BRAID_LAUNCH_COMMANDTABLE_H

#include "cli/Option.h"
#include "launch/Ranks.h"
#include "train/Commands.h"

namespace braid {

// The contents of a command line: options of the command, and of its ranks.
struct Invocation {
  TrainOptions train;
  EvalOptions eval;
  PredictOptions predict;
  SampleOptions sample;
  InfoOptions info;
  MatmulsOptions matmuls;
  VerifyOptions verify;
  ExportOptions exported;
  RunOptions run;
  RankOptions ranks;
};

extern const cli::Command kTrain, kEval, kPredict, kSample, kExport, kInfo, kMatmuls, kVerify, kRun;
inline constexpr const cli::Command *kCommands[] = {&kTrain, &kEval,    &kPredict, &kSample, &kExport,
                                                    &kInfo,  &kMatmuls, &kVerify,  &kRun};
// Options of ranks only; other options are ignored.
extern const cli::Command kRankOptions;
// Options that precede a command.
extern const cli::Command kTrainingBinary;

} // namespace braid
#endif // BRAID_LAUNCH_COMMANDTABLE_H
