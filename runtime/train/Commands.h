//===- Commands.h - subcommands of a training binary ----------------------===//
//
// Each subcommand has one function and one options struct, which the command line fills. Options that a
// checkpoint stores, too, are optional here: the command line wins, then the checkpoint, then the default
// in JobState.
//
// All ranks run the same command; only the first rank prints and logs.
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

// Whether a job resumes from a checkpoint: never, always, or only if one exists.
enum class Resume { No, Yes, Auto };

struct TrainOptions {
  DataOptions data;
  int64_t steps = 0;
  std::optional<uint64_t> seed, batchSeed;
  std::optional<std::string> batchOrder, schedule;
  std::optional<float> lr, minLr;
  std::optional<int64_t> warmup, decaySteps;
  int64_t batchTokens = 0;      // tokens per step over all ranks; 0: the compiled number
  std::string log, tensorboard; // paths of a file and of a directory
  bool force = false;           // whether existing logs may be overwritten
  int64_t evalEvery = 0, evalBatches = 16;
  std::string checkpoint, init;
  std::optional<SaveInterval> saveEvery;
  double saveTimeout = 3600; // seconds
  int keep = 3;
  Resume resume = Resume::No;
  std::vector<std::string> allow; // accepted differences from the checkpoint: data, optimizer, model
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
  double fileGb = 5; // size limit of a file, in units of 10^9 bytes
};

struct InfoOptions {
  bool json = false;
  int64_t tensors = 20;
};

struct MatmulsOptions {
  int device = -1; // device number, as in RankOptions
};

struct VerifyOptions {
  std::string path; // path of a checkpoint or of a directory of checkpoints
};

struct RunOptions {
  std::string program, inputs, outputs;
  uint64_t seed = 1;
};

// A command of one rank, before it allocates memory and connects to other ranks.
struct PreparedCommand {
  StartFacts facts; // settings that all ranks must share
  // Runs the command with `threads` threads. Returns the exit status of the process; throws Error.
  std::function<int(const Rank &rank, int threads)> run;
};

// Each function throws Error for everything that can be rejected before memory is allocated. The options
// must outlive the command.
PreparedCommand prepareTrain(const br_model &model, const TrainOptions &options, int rank);
PreparedCommand prepareEval(const br_model &model, const EvalOptions &options);
PreparedCommand preparePredict(const br_model &model, const PredictOptions &options, RunOutputs &outputs);
PreparedCommand prepareSample(const br_model &model, const SampleOptions &options);
PreparedCommand prepareRun(const br_model &model, const RunOptions &options, RunOutputs &outputs);
int runInfo(const br_model &model, const InfoOptions &options);
int runMatmuls(const br_model &model, const MatmulsOptions &options);
int runVerify(const VerifyOptions &options);
int runExport(const br_model &model, const ExportOptions &options);

// Returns the plan's `peak_bytes`, or the arena's size if the plan has none.
uint64_t reportedPeak(const br_model &model);
// Returns the plan's bytes of host memory beside a device's arena.
uint64_t reportedHostBytes(const br_model &model);

} // namespace braid
#endif // BRAID_TRAIN_COMMANDS_H
