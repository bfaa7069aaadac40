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
#include "comm/StartFacts.h"
#include "data/DataFiles.h"
#include "train/RunOutputs.h"
#include "train/SaveInterval.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct DataOptions {
  std::vector<std::string> data;
  DataFormat format = DataFormat::Auto;
  std::optional<double> holdout;

  DataFiles find() const { return findData(data, format); }
};

// Whether a job goes on from a checkpoint: never, always, or if there is one.
enum class Resume { No, Yes, Auto };

struct TrainOptions {
  DataOptions data;
  int64_t steps = 0;
  std::optional<uint64_t> seed, batchSeed;
  std::optional<std::string> batchOrder, schedule;
  std::optional<float> lr, minLr;
  std::optional<int64_t> warmup, decaySteps;
  int64_t batchTokens = 0;      // a step, of all ranks; 0: as compiled
  std::string log, tensorboard; // a file and a directory
  bool force = false;           // they may be there already
  int64_t evalEvery = 0, evalBatches = 16;
  std::string checkpoint, init;
  std::optional<SaveInterval> saveEvery;
  double saveTimeout = 3600; // seconds
  int keep = 3;
  Resume resume = Resume::No;
  std::vector<std::string> allow; // differences from the checkpoint: data, optimizer, model
};

struct EvalOptions {
  DataOptions data;
  std::string checkpoint, init;
  int64_t batches = 16;
};

struct PredictOptions {
  DataOptions data;
  std::string checkpoint, init, outputs;
};

struct SampleOptions {
  std::string checkpoint, promptTokens, tokenizer;
  std::optional<std::string> prompt;
  int64_t length = 500;
  double temperature = 0.8;
  int64_t topK = 0; // 0: no limit
  double topP = 1;  // 1: no limit
  double repetitionPenalty = 1;
  uint64_t seed = 1;
};

enum class ExportType { Float32, BFloat16 };

struct ExportOptions {
  std::string folder, checkpoint, init, tokenizer;
  ExportType type = ExportType::Float32;
  double fileGb = 5; // of 10^9 bytes
};

struct InfoOptions {
  bool json = false;
  int64_t tensors = 20;
};

struct MatmulsOptions {
  int device = -1; // as in RankOptions
};

struct VerifyOptions {
  std::string path; // of a checkpoint, or of a directory of them
};

struct RunOptions {
  std::string program, inputs, outputs;
  uint64_t seed = 1;
};

// A command of one rank, before it has memory and is connected to the others.
struct PreparedCommand {
  StartFacts facts; // what the ranks must have in common
  // With so many threads; returns the process's exit status, and throws Error.
  std::function<int(const Rank &rank, int threads)> run;
};

// Each refuses, by an Error, what can be refused before there is memory.  The options live as
// long as the command.
PreparedCommand prepareTrain(const br_model &model, const TrainOptions &options, int rank);
PreparedCommand prepareEval(const br_model &model, const EvalOptions &options);
PreparedCommand preparePredict(const br_model &model, const PredictOptions &options, RunOutputs &outputs);
PreparedCommand prepareSample(const br_model &model, const SampleOptions &options);
PreparedCommand prepareRun(const br_model &model, const RunOptions &options, RunOutputs &outputs);
int runInfo(const br_model &model, const InfoOptions &options);
int runMatmuls(const br_model &model, const MatmulsOptions &options);
int runVerify(const VerifyOptions &options);
int runExport(const br_model &model, const ExportOptions &options);

} // namespace braid
#endif // BRAID_TRAIN_COMMANDS_H
