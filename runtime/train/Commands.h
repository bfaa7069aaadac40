//===- Commands.h - what a training binary does ---------------------------===//
//
// One function a subcommand, and the options the command line fills.  Options
// that a checkpoint also remembers are optional here: given wins, then the
// checkpoint's value, then the default of JobState.
//
// All ranks run the same command; the first prints and logs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_COMMANDS_H
#define BRAID_TRAIN_COMMANDS_H

#include "braid_rt.h"
#include "comm/Rank.h"
#include "train/RunOutputs.h"

#include <cstdint>
#include <optional>
#include <string>

namespace braid {

struct DataOptions {
  std::string data;
  double holdout = 0.1;
};

struct TrainOptions {
  DataOptions data;
  int64_t steps = 0;
  int threads = 1; // of each rank
  std::optional<uint64_t> seed, batchSeed;
  std::optional<std::string> batchOrder, schedule;
  std::optional<float> lr, minLr;
  std::optional<int64_t> warmup, decaySteps;
  int64_t batchTokens = 0; // a step, of all ranks; 0: as compiled
  std::string log;
  int64_t evalEvery = 0, evalBatches = 16;
  std::string checkpoint, init;
  int64_t saveEvery = 0;
  int keep = 3;
  bool resume = false;
};

struct EvalOptions {
  DataOptions data;
  std::string checkpoint, init;
  int64_t batches = 16;
  int threads = 1;
};

struct SampleOptions {
  std::string checkpoint, prompt = "\n", promptIds;
  int64_t length = 500;
  double temperature = 0.8;
  int64_t topK = 0; // 0: no limit
  uint64_t seed = 1;
  int threads = 1;
};

struct InfoOptions {
  bool json = false;
  int64_t tensors = 20;
};

struct VerifyOptions {
  std::string path; // of a checkpoint, or of a directory of them
};

struct RunOptions {
  std::string program, inputs, outputs;
  uint64_t seed = 1;
  int threads = 1;
};

// Each returns the process's exit status, and throws Error.
int runTrain(const br_model &model, const TrainOptions &options, const Rank &rank);
int runEval(const br_model &model, const EvalOptions &options, const Rank &rank);
int runSample(const br_model &model, const SampleOptions &options, const Rank &rank);
int runInfo(const br_model &model, const InfoOptions &options);
int runVerify(const VerifyOptions &options);
int runOnce(const br_model &model, const RunOptions &options, const Rank &rank, RunOutputs &outputs);

} // namespace braid
#endif // BRAID_TRAIN_COMMANDS_H
