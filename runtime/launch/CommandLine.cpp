//===- CommandLine.cpp - what can be said to a training binary ------------===//

#include "launch/CommandLine.h"

#include "launch/Ranks.h"
#include "train/Commands.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>

using namespace braid;

namespace {

// CLI11's own checks name a bound of 300 digits and let "nan" pass.
CLI::Validator number(bool mayBeZero, const char *demand, double most = std::numeric_limits<double>::max()) {
  return CLI::Validator(
      [=](std::string &text) {
        double value = 0;
        bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
                    (mayBeZero ? value >= 0 : value > 0) && value <= most;
        return fits ? std::string() : "'" + text + "' is not " + demand;
      },
      ""); // the type's name says enough in the help
}
const CLI::Validator notNegative = number(true, "a number of at least 0");
const CLI::Validator positive = number(false, "a number above 0");
const CLI::Validator fraction = number(true, "a number from 0 to 1", 1);
// Three years, which clocks can still add to what they show.
const CLI::Validator seconds = number(false, "a number above 0 and at most 100000000", 1e8);

// Options that are added while it lives stand together in the help.
class Heading {
public:
  Heading(CLI::App &command, const char *text) : command(command) { command.option_defaults()->group(text); }
  ~Heading() { command.option_defaults()->group("Options"); }

private:
  CLI::App &command;
};

//===----------------------------------------------------------------------===//
// Options of several commands
//===----------------------------------------------------------------------===//

void addData(CLI::App &command, DataOptions &options) {
  command
      .add_option("--data", options.data,
                  "Text file (a token a byte), binary token file, or for models without tokens a safetensors file")
      ->required()
      ->type_name("FILE");
  command.add_option("--holdout", options.holdout, "Fraction of the data, from its end, kept for evaluation")
      ->check(fraction)
      ->capture_default_str()
      ->type_name("SHARE");
}

// "latency_us,GBps".
CLI::Validator linkText() {
  return CLI::Validator(
      [](std::string &text) {
        LinkModel ignored;
        return parseLink(text, ignored) ? std::string()
                                        : "'" + text + "' is not a latency in us and a rate in GB/s, like 20,12.5";
      },
      "");
}

void addGpu(CLI::App &command, RankOptions &options) {
  command
      .add_option("--device", options.device,
                  "GPU of this process, of programs for one (default: its number on this host)")
      ->check(CLI::Range(0, 1 << 16))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--cuda-graph", [&options](const std::string &text) { options.graphs = text == "on"; },
          "Capture each program once as a CUDA graph and replay it, on GPUs: on or off (default: on, where the "
          "transport can and each rank is a process of its own)")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("NAME");
  command
      .add_option_function<std::string>(
          "--profile", [&options](const std::string &text) { options.profile = text; },
          "Measure each action of the programs, on GPUs, and write their times to a JSON file, or for people at the "
          "end; without CUDA graphs")
      ->expected(0, 1)
      ->default_str("")
      ->type_name("FILE");
  command
      .add_option("--matmul-search", options.matmulSearch,
                  "At the start, time up to N of cuBLASLt's algorithms for each matmul and keep the fastest, on GPUs; "
                  "other runs may choose others, which round differently (default: 1, the one that its heuristic puts "
                  "first, without timing)")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--deterministic-attention",
          [&options](const std::string &text) { options.deterministicAttention = text == "on"; },
          "Sum gradients of cuDNN's attention in a fixed order, on GPUs: on, or off (saves a pass over memory before "
          "sm_100; their bits differ from run to run) (default: on)")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("NAME");
}

void addRanks(CLI::App &command, RankOptions &options) {
  Heading heading(command, "Ranks");
  command
      .add_option("--threads", options.threads,
                  "Threads of a rank (default: the physical cores available, shared by the ranks of this host)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command
      .add_option("--ranks", options.ranks,
                  "Ranks to run as threads of this process: as many as the model was compiled for (the default, if "
                  "no launcher has started processes)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command
      .add_option(
          "--transport", options.transport,
          "How ranks communicate: threads of one process, gloo or mpi (default: what fits mpirun, torchrun, srun or "
          "none); on GPUs nccl, or gloo, mpi and device-threads (ranks that share one GPU) through the host "
          "(auto: nccl if it can start)")
      ->check(CLI::IsMember({"auto", "threads", "gloo", "mpi", "nccl", "device-threads"}))
      ->type_name("NAME");
  addGpu(command, options);
  command.add_option("--timeout", options.timeout, "Seconds that a rank waits for another")
      ->check(seconds)
      ->capture_default_str()
      ->type_name("SECONDS");
  command
      .add_option("--rendezvous", options.rendezvous,
                  "Where ranks of gloo and nccl rendezvous: file:///FOLDER or tcp://HOST:PORT of rank 0 (default: "
                  "MASTER_ADDR and MASTER_PORT)")
      ->type_name("PLACE");
  command
      .add_option_function<std::string>(
          "--link", [&options](const std::string &text) { parseLink(text, options.link.emplace()); },
          "Make threads as slow as a link of this latency (us) and rate (GB/s)")
      ->check(linkText())
      ->type_name("US,GBPS");
  command
      .add_option_function<std::string>(
          "--pin",
          [&options](const std::string &text) {
            options.pin = text == "auto" ? Pin::Auto : text == "on" ? Pin::On : Pin::Off;
          },
          "Give each thread a core of its own: on, off, or where ranks share a machine that is theirs (auto)")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->type_name("NAME");
}

void addLearningRate(CLI::App &c, TrainOptions &o) {
  Heading heading(c, "Learning rate");
  c.add_option("--lr", o.lr, "Learning rate after warm-up (default: 0.001)")->check(notNegative)->type_name("X");
  c.add_option("--schedule", o.schedule, "Learning rate after warm-up (default: constant)")
      ->check(CLI::IsMember({"constant", "cosine"}))
      ->type_name("NAME");
  c.add_option("--warmup", o.warmup, "Steps of linear warm-up (default: 0)")->check(notNegative)->type_name("N");
  c.add_option("--min-lr", o.minLr, "Where the cosine ends (default: 0)")->check(notNegative)->type_name("X");
  c.add_option("--decay-steps", o.decaySteps, "Step where the cosine ends (default: --steps of the first run)")
      ->check(positive)
      ->type_name("N");
}

void addCheckpoint(CLI::App &c, TrainOptions &o) {
  Heading heading(c, "Checkpoints");
  CLI::Option *checkpoint =
      c.add_option("--checkpoint", o.checkpoint, "Directory to save checkpoints in")->type_name("DIR");
  c.add_option("--save-every", o.saveEvery, "Steps between checkpoints; 0: only at the end")
      ->check(notNegative)
      ->needs(checkpoint)
      ->capture_default_str()
      ->type_name("N");
  c.add_option("--keep", o.keep, "Checkpoints kept, newest first; 0: all")
      ->check(notNegative)
      ->capture_default_str()
      ->type_name("N");
  CLI::Option *resume =
      c.add_flag("--resume", o.resume, "Go on from the newest checkpoint; options not given keep their saved values")
          ->needs(checkpoint);
  c.add_option("--init", o.init, "Start from the parameters in this safetensors file")
      ->excludes(resume)
      ->type_name("FILE");
}

} // namespace

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

CLI::App *braid::addTrain(CLI::App &app, TrainOptions &o, RankOptions &ranks) {
  CLI::App *c = app.add_subcommand("train", "Train the model");
  addData(*c, o.data);
  c->add_option("--steps", o.steps, "Total number of steps, those before a resume included")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}))
      ->type_name("N");
  c->add_option("--seed", o.seed, "Seed of initial values and dropout (default: 1)")
      ->check(notNegative)
      ->type_name("N");
  c->add_option("--batch-seed", o.batchSeed, "Seed of the choice of data (default: 1)")
      ->check(notNegative)
      ->type_name("N");
  c->add_option("--batch-order", o.batchOrder,
                "Order of the data: windows (or rows) at random, or each once a pass; the last batch of a pass is "
                "short, or left out where the loss counts every row (default: random)")
      ->check(CLI::IsMember({"random", "sequential"}))
      ->type_name("NAME");
  addLearningRate(*c, o);
  addRanks(*c, ranks);
  c->add_option("--batch-tokens", o.batchTokens,
                "Tokens (or rows) a step, of all ranks and microbatches (default: as compiled)")
      ->check(positive)
      ->type_name("N");
  c->add_option("--log", o.log, "Metrics, one JSON object a line")->type_name("FILE");
  c->add_option("--eval-every", o.evalEvery, "Steps between evaluations on the held-out part; 0: none")
      ->check(notNegative)
      ->capture_default_str()
      ->type_name("N");
  c->add_option("--eval-batches", o.evalBatches,
                "Batches of an evaluation, spread over the held-out part; all of it if it has no more")
      ->check(positive)
      ->capture_default_str()
      ->type_name("N");
  addCheckpoint(*c, o);
  return c;
}

CLI::App *braid::addEval(CLI::App &app, EvalOptions &o, RankOptions &ranks) {
  CLI::App *c = app.add_subcommand("eval", "Print the loss on the held-out part of the data");
  addData(*c, o.data);
  auto *weights = c->add_option_group("weights");
  weights->add_option("--checkpoint", o.checkpoint, "Checkpoint file, or directory (the newest in it)")
      ->type_name("DIR|FILE");
  weights->add_option("--init", o.init, "Any safetensors file with the parameters")->type_name("FILE");
  weights->require_option(1);
  c->add_option("--eval-batches", o.batches,
                "Batches to average over, spread over the held-out part; all of it if it has no more")
      ->check(positive)
      ->capture_default_str()
      ->type_name("N");
  addRanks(*c, ranks);
  return c;
}

CLI::App *braid::addSample(CLI::App &app, SampleOptions &o, RankOptions &ranks) {
  CLI::App *c = app.add_subcommand("sample", "Generate text from a checkpoint");
  c->add_option("--checkpoint", o.checkpoint, "Checkpoint file, or directory (the newest in it)")
      ->required()
      ->type_name("DIR|FILE");
  CLI::Option *prompt =
      c->add_option("--prompt", o.prompt, "Text to go on from (default: a newline)")->type_name("TEXT");
  c->add_option("--prompt-ids", o.promptIds, "Token ids to go on from, like 1,2,3")->excludes(prompt)->type_name("IDS");
  c->add_option("--length", o.length, "Tokens to generate")->check(notNegative)->capture_default_str()->type_name("N");
  c->add_option("--temperature", o.temperature, "0: always the likeliest token")
      ->check(notNegative)
      ->capture_default_str()
      ->type_name("X");
  c->add_option("--top-k", o.topK, "Choose among the k likeliest; 0: among all")
      ->check(notNegative)
      ->capture_default_str()
      ->type_name("K");
  c->add_option("--seed", o.seed, "Seed of the choices")->check(notNegative)->capture_default_str()->type_name("N");
  addRanks(*c, ranks);
  return c;
}

CLI::App *braid::addInfo(CLI::App &app, InfoOptions &o) {
  CLI::App *c = app.add_subcommand("info", "Print the memory plan the model was compiled with");
  c->add_flag("--json", o.json, "As JSON, like braidc --report");
  c->add_option("--tensors", o.tensors, "Largest tensors to list")
      ->check(notNegative)
      ->capture_default_str()
      ->type_name("N");
  return c;
}

CLI::App *braid::addRun(CLI::App &app, RunOptions &o, RankOptions &ranks) {
  CLI::App *c = app.add_subcommand("run", "Run one program once, to compare it with another implementation");
  c->add_option("--program", o.program, "train, accumulate, eval or generate")->required()->type_name("NAME");
  c->add_option("--inputs", o.inputs, "Tensors by name (safetensors); others are random")->type_name("FILE");
  c->add_option("--outputs", o.outputs, "Where inputs, results and updates go (safetensors)")
      ->required()
      ->type_name("FILE");
  c->add_option("--seed", o.seed, "Seed of random tensors")->check(notNegative)->capture_default_str()->type_name("N");
  addRanks(*c, ranks);
  return c;
}
