//===- CommandTable.cpp - commands of a training binary -------------------===//

#include "launch/CommandTable.h"

#include "checkpoint/JobState.h"

using namespace braid;
using namespace braid::cli;

namespace braid {
static void readOption(LinkModel &link, std::string_view text) { parseLink(std::string(text), link); }
static void readOption(SaveInterval &interval, std::string_view text) { interval = *parseSaveInterval(text); }
} // namespace braid

namespace {

// Whether the text lists accepted differences from a checkpoint.
bool isDifferences(std::string_view text) {
  const size_t comma = text.find(',');
  const std::string_view first = text.substr(0, comma);
  const bool isOne = first == "data" || first == "optimizer" || first == "model";
  return isOne && (comma == std::string_view::npos || isDifferences(text.substr(comma + 1)));
}

bool isLink(std::string_view text) {
  LinkModel ignored;
  return parseLink(std::string(text), ignored);
}

bool isSaveInterval(std::string_view text) { return parseSaveInterval(text).has_value(); }

//===----------------------------------------------------------------------===//
// Options of several commands
//===----------------------------------------------------------------------===//

constexpr Option kHelp[] = {kHelpOption};

constexpr Option kData[] = {
    {"--data", list("FILE|FOLDER[:WEIGHT]"),
     "Text files (one token per byte) or token files; for models without tokens, a safetensors file. A folder stands "
     "for "
     "its .tok, .bin and .txt files. Weights set the proportions in which rows are taken, as in a.tok:0.7,b.tok:0.3",
     into<&DataOptions::data>(), required()},
    {"--data-format", choice<DataFormat>(),
     "Format of data files without a header that states it; the files of llm.c and scripts/tokenize have one",
     into<&DataOptions::format>()},
    {"--holdout", number("SHARE", 0, 1), "Fraction of each file, from its end, kept for evaluation",
     into<&DataOptions::holdout>(), defaultOf<&JobState::holdout>()},
};

constexpr Option kRanks[] = {
    {"--ranks", integer("N", 1, kMaxRanks),
     "Number of ranks to run as threads of this process; must be that of the compiled model",
     into<&RankOptions::ranks>(), byDefault("all, without a launcher")},
    {"--threads", integer("N", 1, kMaxThreads), "Threads of a rank", into<&RankOptions::threads>(),
     byDefault("the physical cores available, shared by the ranks of this host")},
    {"--pin", choice({"auto", "on", "off"}),
     "Pin each thread to a core of its own; auto: if the ranks have the machine to themselves",
     into<&RankOptions::pin>()},
    {"--transport", choice({"auto", "threads", "shm", "gloo", "mpi"}),
     "Communication between ranks: between threads of one process, through memory shared by the processes of one host, "
     "over Gloo or over MPI; auto: by the launcher (mpirun, torchrun, srun or none), with shm instead of Gloo if the "
     "launcher puts all processes on this host",
     into<&RankOptions::transport>(), byDefault("auto"), onlyFor("cpu")},
    {"--transport", choice({"auto", "nccl", "gloo", "mpi", "device-threads"}),
     "Communication between ranks: over NCCL; over Gloo or MPI, through the host's memory; between threads that share "
     "one GPU; auto: NCCL if it can start",
     into<&RankOptions::transport>(), byDefault("auto"), onlyFor("cuda")},
    {"--rendezvous", text("PLACE"), "Where processes rendezvous: file:///FOLDER or tcp://HOST:PORT of rank 0",
     into<&RankOptions::rendezvous>(), byDefault("MASTER_ADDR and MASTER_PORT")},
    {"--token-file", text("FILE"), "File with the token of the job, a secret shared by all ranks of a rendezvous",
     into<&RankOptions::tokenFile>(), byDefault("BRAID_JOB_TOKEN; for ranks of one host, a token that rank 0 draws")},
    // At most about three years: clocks can still add this to the current time.
    {"--timeout", numberAbove("SECONDS", 0, kMaxTimeout), "Longest wait of a rank for another",
     into<&RankOptions::timeout>()},
    {"--link", text("latency_us,GBps", isLink, "a latency in us and a rate in GB/s, like 20,12.5"),
     "Slow down communication between threads to a link of this latency and rate", into<&RankOptions::link>()},
};

constexpr Option kGpus[] = {
    {"--device", integer("N", 0, kMaxDevice), "GPU of this process", into<&RankOptions::device>(),
     byDefault("its number on this host"), onlyFor("cuda")},
    {"--cuda-graph", choice({"off", "on"}), "Capture each program once as a CUDA graph and replay it",
     into<&RankOptions::graphs>(),
     byDefault("on, if the transport can be captured and each rank is a process of its own"), onlyFor("cuda")},
    {"--programmatic-launch", choice({"off", "on"}),
     "Start each kernel before the previous one has ended; the kernel itself waits for that end (GPUs from sm_90)",
     into<&RankOptions::programmaticLaunch>(), byDefault("on"), onlyFor("cuda")},
    {"--deterministic-attention",
     text("").alone(""),
     "",
     {},
     moved("the order of sums is chosen when the graph is compiled, by --attention-order of braidc")},
    {"--matmul-search", integer("N", 0, 256).orOneOf({"off"}),
     "At the first start, time up to N algorithms of cuBLASLt for each matmul, and write the fastest to the matmul "
     "plan, "
     "which later starts read; off, 0 or 1: use the first choice of the library's heuristic, and read no plan",
     into<&RankOptions::matmulSearch>(),
     byDefault("the plan beside the program; without one, 16 if the whole job gains more time than the search takes"),
     onlyFor("cuda")},
    {"--matmul-plan", text("FILE"),
     "File of the matmul plan of all ranks. A plan that does not fit the GPU, cuBLASLt or the program is refused, "
     "because "
     "other algorithms round differently",
     into<&RankOptions::matmulPlan>(),
     byDefault("the program's name with .matmul-plan.json; if that plan does not fit, it is replaced, with a warning"),
     onlyFor("cuda")},
};

constexpr Option kMeasurements[] = {
    {"--profile", text("FILE").alone(""),
     "Measure the time of each action (without CUDA graphs). Write a JSON file, or without FILE print a table at the "
     "end, "
     "with FLOPs, bytes, the least time that the machine could take, and sums by kernel, op and unit",
     into<&RankOptions::profile>()},
    {"--trace", text("FILE"),
     "Write a trace for Perfetto: when each rank computed and communicated in the first steps (without CUDA graphs)",
     into<&RankOptions::trace>()},
    {"--trace-steps", integer("N", 1, 1 << 20), "Number of steps in the trace, or of runs of a program",
     into<&RankOptions::traceSteps>(), needs("--trace")},
};

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

constexpr Option kSteps[] = {
    {"--steps", integer("N", 1, INT32_MAX), "Total number of steps, including those before a resume",
     into<&TrainOptions::steps>(), required()},
    {"--batch-tokens", integer("N", 1), "Tokens (or rows) per step, over all ranks and microbatches",
     into<&TrainOptions::batchTokens>(), byDefault("as compiled")},
    {"--batch-order", choice({"random", "sequential"}),
     "Order of the data: windows (or rows) at random, or each once per pass. The last batch of a pass is short; if the "
     "loss counts every row, it is left out",
     into<&TrainOptions::batchOrder>(), defaultOf<&JobState::batchOrder>()},
    {"--batch-seed", integer("N"), "Seed of the random order of the data", into<&TrainOptions::batchSeed>(),
     defaultOf<&JobState::batchSeed>()},
    {"--seed", integer("N"), "Seed of initial values and dropout", into<&TrainOptions::seed>(),
     defaultOf<&JobState::seed>()},
};

constexpr Option kLearningRate[] = {
    {"--lr", number("X"), "Learning rate after warm-up", into<&TrainOptions::lr>(), defaultOf<&JobState::lr>()},
    {"--lr-schedule", choice({"constant", "cosine"}),
     "Learning rate after warm-up: constant, or a cosine down to --min-lr", into<&TrainOptions::schedule>(),
     defaultOf<&JobState::schedule>()},
    {"--schedule",
     text("").alone(""),
     "",
     {},
     moved("the schedule of the learning rate is --lr-schedule now, and that of a pipeline is --schedule of braidc")},
    {"--warmup", integer("N"), "Steps of linear warm-up", into<&TrainOptions::warmup>(),
     defaultOf<&JobState::warmup>()},
    {"--min-lr", number("X"), "Learning rate at the end of the cosine", into<&TrainOptions::minLr>(),
     defaultOf<&JobState::minLr>()},
    {"--decay-steps", integer("N", 1), "Step at which the cosine ends", into<&TrainOptions::decaySteps>(),
     byDefault("--steps of the first run")},
};

constexpr Option kMetrics[] = {
    {"--log", text("FILE"), "File for metrics, one JSON object per line; scripts/plot draws them",
     into<&TrainOptions::log>()},
    {"--tensorboard", text("DIR"), "Directory of this job alone for metrics in TensorBoard's format",
     into<&TrainOptions::tensorboard>()},
    {"--force", flag(), "Overwrite a log and a TensorBoard directory of another job", into<&TrainOptions::force>()},
    {"--eval-every", integer("N"), "Steps between evaluations on the held-out part of the data; 0: none",
     into<&TrainOptions::evalEvery>()},
    {"--eval-batches", integer("N", 1),
     "Number of batches per evaluation, spread over the held-out part; a smaller part is used whole",
     into<&TrainOptions::evalBatches>()},
};

constexpr Option kCheckpoints[] = {
    {"--checkpoint", text("DIR"), "Directory for checkpoints", into<&TrainOptions::checkpoint>()},
    {"--save-every", text("N|15m", isSaveInterval, "a number of steps, or a time like 15m, 90s or 2h"),
     "Steps or time (by the clock of rank 0) between checkpoints; 0: only at the end", into<&TrainOptions::saveEvery>(),
     byDefault("15m"), needs("--checkpoint")},
    {"--save-timeout", numberAbove("SECONDS", 0, kMaxTimeout), "Longest wait of a rank for another during a save",
     into<&TrainOptions::saveTimeout>(), needs("--checkpoint")},
    {"--keep", integer("N"), "Number of newest checkpoints to keep; 0: all", into<&TrainOptions::keep>()},
    {"--resume", choice({"false", "true", "auto"}).alone("true"),
     "Resume from the newest checkpoint. =auto: if there is none, start anew, so that one command starts and restarts "
     "a "
     "job. Options that are not given keep their saved values",
     into<&TrainOptions::resume>(), needs("--checkpoint")},
    {"--allow", list("data,optimizer,model", isDifferences, "some of data, optimizer and model"),
     "Resume although the data, the optimizer or its settings, or the computation of the model differ from the "
     "checkpoint's",
     into<&TrainOptions::allow>(), needs("--resume")},
    {"--init", text("FILE|FOLDER"),
     "Initial parameters: a safetensors file, a checkpoint, or a folder with model.safetensors or its index; f32, f16 "
     "and "
     "bf16 are converted",
     into<&TrainOptions::init>()},
};

constexpr Topic kTrainTopics[] = {
    topic<Invocation, &Invocation::train, &TrainOptions::data>("Data", kData),
    topic<Invocation, &Invocation::train>("Steps", kSteps),
    topic<Invocation, &Invocation::train>("Learning rate", kLearningRate),
    topic<Invocation, &Invocation::train>("Checkpoints", kCheckpoints),
    topic<Invocation, &Invocation::train>("Metrics and evaluation", kMetrics),
    topic<Invocation, &Invocation::ranks>("Ranks", kRanks),
    topic<Invocation, &Invocation::ranks>("GPUs", kGpus),
    topic<Invocation, &Invocation::ranks>("Measurements", kMeasurements),
    topic<Invocation>("Help", kHelp),
};

//===----------------------------------------------------------------------===//
// The other commands
//===----------------------------------------------------------------------===//

constexpr Option kEvaluation[] = {
    {"--checkpoint", text("DIR|FILE"), "Checkpoint file, or directory (the newest in it)",
     into<&EvalOptions::checkpoint>(), required()},
    {"--init", text("FILE|FOLDER"), "Weights instead of a checkpoint, in any form that train --init reads",
     into<&EvalOptions::init>(), excludes("--checkpoint")},
    {"--eval-batches", integer("N", 1),
     "Number of batches to average, spread over the held-out part; a smaller part is used whole",
     into<&EvalOptions::batches>()},
};

constexpr Topic kEvalTopics[] = {
    topic<Invocation, &Invocation::eval, &EvalOptions::data>("Data", kData),
    topic<Invocation, &Invocation::eval>("Evaluation", kEvaluation),
    topic<Invocation, &Invocation::ranks>("Ranks", kRanks),
    topic<Invocation, &Invocation::ranks>("GPUs", kGpus),
    topic<Invocation, &Invocation::ranks>("Measurements", kMeasurements),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kPredictedData[] = {kData[0], kData[1]};

constexpr Option kPrediction[] = {
    {"--checkpoint", text("DIR|FILE"), "Checkpoint file, or directory (the newest in it)",
     into<&PredictOptions::checkpoint>(), required()},
    {"--init", text("FILE|FOLDER"), "Weights instead of a checkpoint, in any form that train --init reads",
     into<&PredictOptions::init>(), excludes("--checkpoint")},
    {"--outputs", text("FILE"),
     "Safetensors file to write: a tensor for each output of the graph, under its name, with one row per row of the "
     "data",
     into<&PredictOptions::outputs>(), required()},
};

constexpr Topic kPredictTopics[] = {
    topic<Invocation, &Invocation::predict, &PredictOptions::data>("Data", kPredictedData),
    topic<Invocation, &Invocation::predict>("Prediction", kPrediction),
    topic<Invocation, &Invocation::ranks>("Ranks", kRanks),
    topic<Invocation, &Invocation::ranks>("GPUs", kGpus),
    topic<Invocation, &Invocation::ranks>("Measurements", kMeasurements),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kSampling[] = {
    {"--checkpoint", text("DIR|FILE"), "Checkpoint file, or directory (the newest in it)",
     into<&SampleOptions::checkpoint>(), required()},
    {"--prompt", text("TEXT"), "Text to continue", into<&SampleOptions::prompt>(),
     byDefault("a newline, or the token that ends a text")},
    {"--prompt-tokens", text("IDS"), "Tokens to continue, as in 1,2,3; scripts/sample makes them from text",
     into<&SampleOptions::promptTokens>(), excludes("--prompt")},
    {"--prompt-ids", text(""), "", {}, moved("it is --prompt-tokens now")},
    {"--tokenizer", text("FILE"),
     "Token file with the text of each token and the token that ends a text. Without one, tokens are bytes if the "
     "model "
     "has at most 256, and otherwise are printed as numbers",
     into<&SampleOptions::tokenizer>(), byDefault("tokenizer.tok beside the checkpoint, if training wrote it")},
    {"--length", integer("N"), "Number of tokens to generate", into<&SampleOptions::length>()},
};

constexpr Option kChoices[] = {
    {"--temperature", number("X"), "Temperature of the choice; 0: always the likeliest token",
     into<&SampleOptions::temperature>()},
    {"--top-k", integer("K"), "Choose among the K likeliest tokens; 0: among all", into<&SampleOptions::topK>()},
    {"--top-p", number("P", 0, 1),
     "Choose among the fewest likeliest tokens whose probabilities add up to P; 1: among all",
     into<&SampleOptions::topP>()},
    {"--repetition-penalty", number("X", 1e-3, 1e3),
     "Divide the positive logits of tokens that occur in the text by X, and multiply the negative ones; 1: neither",
     into<&SampleOptions::repetitionPenalty>()},
    {"--seed", integer("N"), "Seed of the choices", into<&SampleOptions::seed>()},
};

constexpr Topic kSampleTopics[] = {
    topic<Invocation, &Invocation::sample>("Text", kSampling),
    topic<Invocation, &Invocation::sample>("Choice of tokens", kChoices),
    topic<Invocation, &Invocation::ranks>("Ranks", kRanks),
    topic<Invocation, &Invocation::ranks>("GPUs", kGpus),
    topic<Invocation, &Invocation::ranks>("Measurements", kMeasurements),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kExported[] = {
    {"FOLDER", text(""), "Folder to write; must be new or empty", into<&ExportOptions::folder>(), required()},
    {"--checkpoint", text("DIR|FILE"), "Checkpoint file, or directory (the newest in it), of any layout",
     into<&ExportOptions::checkpoint>(), required()},
    {"--init", text("FILE|FOLDER"), "Weights instead of a checkpoint", into<&ExportOptions::init>(),
     excludes("--checkpoint")},
    {"--tokenizer", text("FOLDER"), "Folder with the files of the tokenizer to copy", into<&ExportOptions::tokenizer>(),
     byDefault("the folder that --init named when training began")},
    {"--type", choice({"f32", "bf16"}), "Type of the weights", into<&ExportOptions::type>()},
    {"--file-gb", numberAbove("X", 0, 1e6),
     "Largest size of a file in GB; larger weights become several files with an index", into<&ExportOptions::fileGb>()},
};

constexpr Topic kExportTopics[] = {
    topic<Invocation, &Invocation::exported>("Weights", kExported),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kPlan[] = {
    {"--json", flag(), "Print JSON, as braidc --report does", into<&InfoOptions::json>()},
    {"--tensors", integer("N"), "Number of largest tensors to list", into<&InfoOptions::tensors>()},
};

constexpr Topic kInfoTopics[] = {
    topic<Invocation, &Invocation::info>("Plan", kPlan),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kAsked[] = {
    {"--device", integer("N", 0, kMaxDevice), "GPU to list algorithms for", into<&MatmulsOptions::device>(),
     byDefault("the first"), onlyFor("cuda")},
};

constexpr Topic kMatmulsTopics[] = {
    topic<Invocation, &Invocation::matmuls>("GPUs", kAsked),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kVerified[] = {
    {"DIR|FILE", text(""), "A checkpoint, or a directory with checkpoints", into<&VerifyOptions::path>(), required()},
};

constexpr Topic kVerifyTopics[] = {
    topic<Invocation, &Invocation::verify>("Checkpoints", kVerified),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kProgram[] = {
    {"--program", text("NAME"), "train, accumulate, eval, generate or decode", into<&RunOptions::program>(),
     required()},
    {"--inputs", text("FILE"), "Tensors by name (safetensors); others are random", into<&RunOptions::inputs>()},
    {"--outputs", text("FILE"), "Where inputs, results and updates go (safetensors)", into<&RunOptions::outputs>(),
     required()},
    {"--seed", integer("N"), "Seed of random tensors", into<&RunOptions::seed>()},
};

constexpr Topic kRunTopics[] = {
    topic<Invocation, &Invocation::run>("Program", kProgram),
    topic<Invocation, &Invocation::ranks>("Ranks", kRanks),
    topic<Invocation, &Invocation::ranks>("GPUs", kGpus),
    topic<Invocation, &Invocation::ranks>("Measurements", kMeasurements),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kGeneral[] = {
    kHelpOption,
    {"--version", flag(), "Print the versions of the runtime's interface and of the model"},
};
constexpr Topic kRankTopics[] = {topic<Invocation, &Invocation::ranks>("Ranks", kRanks)};
constexpr Topic kGeneralTopics[] = {topic<Invocation>("Options", kGeneral)};

} // namespace

constexpr Command braid::kTrain = {"train", "Train the model", kTrainTopics};
constexpr Command braid::kEval = {"eval", "Print the loss on the held-out part of the data", kEvalTopics};
constexpr Command braid::kPredict = {"predict", "Write the outputs of the model for each row of its data",
                                     kPredictTopics};
constexpr Command braid::kSample = {"sample", "Generate text from a checkpoint", kSampleTopics};
constexpr Command braid::kExport = {
    "export", "Write the weights, config.json and tokenizer as Hugging Face's libraries load them", kExportTopics};
constexpr Command braid::kInfo = {"info", "Print the memory plan the model was compiled with", kInfoTopics};
constexpr Command braid::kMatmuls = {
    "matmuls", "List what cuBLASLt has for each distinct matmul and epilogue, as JSON lines (programs for GPUs)",
    kMatmulsTopics};
constexpr Command braid::kVerify = {"verify", "Read checkpoints whole and compare their checksums", kVerifyTopics};
constexpr Command braid::kRun = {"run", "Run one program once, to compare it with another implementation", kRunTopics};
constexpr Command braid::kRankOptions = {"", "", kRankTopics};
constexpr Command braid::kTrainingBinary = {"", "Train and run a model that Braid compiled ahead of time",
                                            kGeneralTopics, "Each command has its own --help."};
