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
     "Text files (a token a byte) or token files, or for models without tokens a safetensors file; a folder stands for "
     "its .tok, .bin and .txt files; with weights rows are taken in these proportions, as in a.tok:0.7,b.tok:0.3",
     into<&DataOptions::data>(), required()},
    {"--data-format",
     choice({{"auto", "text, which has no NUL and is for a vocabulary of 256"},
             {"bytes", "a token a byte"},
             {"nanogpt", "ids of 2 bytes, without a header"}}),
     "How data is read that does not say what it is, as llm.c's and scripts/tokenize's files do",
     into<&DataOptions::format>()},
    {"--holdout", number("SHARE", 0, 1), "Fraction of each file, from its end, kept for evaluation",
     into<&DataOptions::holdout>(), defaultOf<&JobState::holdout>()},
};

constexpr Option kRanks[] = {
    {"--ranks", integer("N", 1, 4096), "Ranks to run as threads of this process: as many as the model was compiled for",
     into<&RankOptions::ranks>(), byDefault("all, if no launcher has started processes")},
    {"--threads", integer("N", 1, 1024), "Threads of a rank", into<&RankOptions::threads>(),
     byDefault("the physical cores available, shared by the ranks of this host")},
    {"--pin", choice({"auto", "on", "off"}),
     "Give each thread a core of its own; auto: where ranks share a machine that is theirs", into<&RankOptions::pin>()},
    {"--transport", choice({"auto", "threads", "shm", "gloo", "mpi"}),
     "How ranks communicate: as threads of one process, through memory that processes of one host share, or over Gloo "
     "or MPI; auto: what fits mpirun, torchrun, srun or none, and shm for Gloo where the launcher says that all "
     "processes are on this host",
     into<&RankOptions::transport>(), byDefault("auto"), onlyFor("cpu")},
    {"--transport", choice({"auto", "nccl", "gloo", "mpi", "device-threads"}),
     "How ranks communicate: over NCCL; over Gloo or MPI through the host's memory; as threads that share one "
     "GPU; auto: NCCL if it can start",
     into<&RankOptions::transport>(), byDefault("auto"), onlyFor("cuda")},
    {"--rendezvous", text("PLACE"), "Where processes rendezvous: file:///FOLDER or tcp://HOST:PORT of rank 0",
     into<&RankOptions::rendezvous>(), byDefault("MASTER_ADDR and MASTER_PORT")},
    {"--token-file", text("FILE"), "File with the job's token, a secret that all ranks of a rendezvous share",
     into<&RankOptions::tokenFile>(), byDefault("BRAID_JOB_TOKEN, or for ranks of one host one that rank 0 draws")},
    // At most about three years: clocks can still add this to the current time.
    {"--timeout", numberAbove("SECONDS", 0, 1e8), "How long a rank waits for another", into<&RankOptions::timeout>()},
    {"--link", text("latency_us,GBps", isLink, "a latency in us and a rate in GB/s, like 20,12.5"),
     "Make threads as slow as a link of this latency and rate", into<&RankOptions::link>()},
};

constexpr Option kGpus[] = {
    {"--device", integer("N", 0, 1 << 16), "GPU of this process, of programs for one", into<&RankOptions::device>(),
     byDefault("its number on this host"), onlyFor("cuda")},
    {"--cuda-graph", choice({"off", "on"}), "Capture each program once as a CUDA graph and replay it",
     into<&RankOptions::graphs>(), byDefault("on, where the transport can and each rank is a process of its own"),
     onlyFor("cuda")},
    {"--programmatic-launch", choice({"off", "on"}),
     "Let a kernel begin before the one in front of it has ended, and wait for that end itself (GPUs from sm_90)",
     into<&RankOptions::programmaticLaunch>(), byDefault("on"), onlyFor("cuda")},
    {"--deterministic-attention",
     text("").alone(""),
     "",
     {},
     moved("the order of sums is chosen when the graph is compiled, by --attention-order of braidc")},
    {"--matmul-search", integer("N", 0, 256).orOneOf({"off"}),
     "At the first start, time up to N of cuBLASLt's algorithms for each matmul, and write the fastest to the matmul "
     "plan, which later starts take; off, 0 or 1: run by the one that its heuristic puts first, and read no plan",
     into<&RankOptions::matmulSearch>(),
     byDefault("the plan beside the program; without one, 16 where training is long enough to win the time back"),
     onlyFor("cuda")},
    {"--matmul-plan", text("FILE"),
     "The matmul plan, which all ranks run by; other algorithms round differently, so one that does not fit the GPU, "
     "cuBLASLt or the program is refused",
     into<&RankOptions::matmulPlan>(),
     byDefault(
         "the program's name with .matmul-plan.json; that one is replaced, with a warning, where it does not fit"),
     onlyFor("cuda")},
};

constexpr Option kMeasurements[] = {
    {"--profile", text("FILE").alone(""),
     "Measure each action of the programs (without CUDA graphs), and write their times to a JSON file, or for people "
     "at the end: beside FLOPs, bytes and the least time that the machine could take; and sums by kernel, op and unit",
     into<&RankOptions::profile>()},
    {"--trace", text("FILE"),
     "Write when all ranks computed and communicated in the first steps (without CUDA graphs), as a trace that "
     "Perfetto shows",
     into<&RankOptions::trace>()},
    {"--trace-steps", integer("N", 1, 1 << 20), "Steps in the trace, or runs of a program",
     into<&RankOptions::traceSteps>(), needs("--trace")},
};

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

constexpr Option kSteps[] = {
    {"--steps", integer("N", 1, INT32_MAX), "Total number of steps, those before a resume included",
     into<&TrainOptions::steps>(), required()},
    {"--batch-tokens", integer("N", 1), "Tokens (or rows) a step, of all ranks and microbatches",
     into<&TrainOptions::batchTokens>(), byDefault("as compiled")},
    {"--batch-order", choice({"random", "sequential"}),
     "Order of the data: windows (or rows) at random, or each once a pass; the last batch of a pass is short, "
     "or left out where the loss counts every row",
     into<&TrainOptions::batchOrder>(), defaultOf<&JobState::batchOrder>()},
    {"--batch-seed", integer("N"), "Seed of the choice of data", into<&TrainOptions::batchSeed>(),
     defaultOf<&JobState::batchSeed>()},
    {"--seed", integer("N"), "Seed of initial values and dropout", into<&TrainOptions::seed>(),
     defaultOf<&JobState::seed>()},
};

constexpr Option kLearningRate[] = {
    {"--lr", number("X"), "Learning rate after warm-up", into<&TrainOptions::lr>(), defaultOf<&JobState::lr>()},
    {"--lr-schedule", choice({"constant", "cosine"}), "What the learning rate does after warm-up",
     into<&TrainOptions::schedule>(), defaultOf<&JobState::schedule>()},
    {"--schedule",
     text("").alone(""),
     "",
     {},
     moved("that of the learning rate is --lr-schedule now, and pipelines have theirs from --schedule of braidc")},
    {"--warmup", integer("N"), "Steps of linear warm-up", into<&TrainOptions::warmup>(),
     defaultOf<&JobState::warmup>()},
    {"--min-lr", number("X"), "Where the cosine ends", into<&TrainOptions::minLr>(), defaultOf<&JobState::minLr>()},
    {"--decay-steps", integer("N", 1), "Step where the cosine ends", into<&TrainOptions::decaySteps>(),
     byDefault("--steps of the first run")},
};

constexpr Option kMetrics[] = {
    {"--log", text("FILE"), "Metrics, one JSON object a line; scripts/plot draws them", into<&TrainOptions::log>()},
    {"--tensorboard", text("DIR"), "Metrics as TensorBoard reads them, in a directory for this job alone",
     into<&TrainOptions::tensorboard>()},
    {"--force", flag(), "Write the log and the directory for TensorBoard anew where another job has left them",
     into<&TrainOptions::force>()},
    {"--eval-every", integer("N"), "Steps between evaluations on the held-out part; 0: none",
     into<&TrainOptions::evalEvery>()},
    {"--eval-batches", integer("N", 1),
     "Batches of an evaluation, spread over the held-out part; all of it if it has no more",
     into<&TrainOptions::evalBatches>()},
};

constexpr Option kCheckpoints[] = {
    {"--checkpoint", text("DIR"), "Directory to save checkpoints in", into<&TrainOptions::checkpoint>()},
    {"--save-every", text("N|15m", isSaveInterval, "a number of steps, or a time like 15m, 90s or 2h"),
     "Steps between checkpoints, or the time by the clock of rank 0; 0: only at the end",
     into<&TrainOptions::saveEvery>(), byDefault("15m"), needs("--checkpoint")},
    {"--save-timeout", numberAbove("SECONDS", 0, 1e8), "How long ranks wait for each other during a save",
     into<&TrainOptions::saveTimeout>(), needs("--checkpoint")},
    {"--keep", integer("N"), "Checkpoints kept, newest first; 0: all", into<&TrainOptions::keep>()},
    {"--resume", choice({"false", "true", "auto"}).alone("true"),
     "Go on from the newest checkpoint; =auto: or start where there is none, so that one command starts and restarts a "
     "job; options not given keep their saved values",
     into<&TrainOptions::resume>(), needs("--checkpoint")},
    {"--allow", list("data,optimizer,model", isDifferences, "some of data, optimizer and model"),
     "Go on although the data, or the optimizer or its settings, or what the model computes, are not those of the "
     "checkpoint",
     into<&TrainOptions::allow>(), needs("--resume")},
    {"--init", text("FILE|FOLDER"),
     "Start from the parameters in a safetensors file, a checkpoint, or a folder with model.safetensors or its index; "
     "floats of f32, f16 and bf16 are converted",
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
    {"--init", text("FILE|FOLDER"), "Any weights with the parameters, instead, as train --init takes them",
     into<&EvalOptions::init>(), excludes("--checkpoint")},
    {"--eval-batches", integer("N", 1),
     "Batches to average over, spread over the held-out part; all of it if it has no more",
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
    {"--init", text("FILE|FOLDER"), "Any weights with the parameters, instead, as train --init takes them",
     into<&PredictOptions::init>(), excludes("--checkpoint")},
    {"--outputs", text("FILE"),
     "Safetensors file to write: a tensor for each output of the graph, by its name, with a row for each of the data",
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
    {"--prompt", text("TEXT"), "Text to go on from", into<&SampleOptions::prompt>(),
     byDefault("a newline, or the token that ends a text")},
    {"--prompt-tokens", text("IDS"), "Tokens to go on from, like 1,2,3; scripts/sample makes them of a text",
     into<&SampleOptions::promptTokens>(), excludes("--prompt")},
    {"--prompt-ids", text(""), "", {}, moved("it is --prompt-tokens now")},
    {"--tokenizer", text("FILE"),
     "The token file whose table says which text a token is, and which token ends it; without one, tokens are bytes if "
     "the model has no more than 256, and else printed as numbers",
     into<&SampleOptions::tokenizer>(), byDefault("tokenizer.tok beside the checkpoint, where training left it")},
    {"--length", integer("N"), "Tokens to generate", into<&SampleOptions::length>()},
};

constexpr Option kChoices[] = {
    {"--temperature", number("X"), "0: always the likeliest token", into<&SampleOptions::temperature>()},
    {"--top-k", integer("K"), "Choose among the k likeliest; 0: among all", into<&SampleOptions::topK>()},
    {"--top-p", number("P", 0, 1),
     "Of these, choose among the fewest likeliest whose probabilities sum up to this; 1: among all",
     into<&SampleOptions::topP>()},
    {"--repetition-penalty", number("X", 1e-3, 1e3),
     "Divide positive logits of the tokens that are in the text by this, and multiply negative ones; 1: leave them",
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
    {"FOLDER", text(""), "The folder to write; it may not be there yet, or must be empty",
     into<&ExportOptions::folder>(), required()},
    {"--checkpoint", text("DIR|FILE"), "Checkpoint file, or directory (the newest in it), of any layout",
     into<&ExportOptions::checkpoint>(), required()},
    {"--init", text("FILE|FOLDER"), "Any weights with the parameters, instead", into<&ExportOptions::init>(),
     excludes("--checkpoint")},
    {"--tokenizer", text("FOLDER"), "Folder with the files of the tokenizer, which are copied",
     into<&ExportOptions::tokenizer>(), byDefault("the folder that --init named when training began")},
    {"--type", choice({"f32", "bf16"}), "Type of the weights", into<&ExportOptions::type>()},
    {"--file-gb", numberAbove("X", 0, 1e6), "Most GB in a file; there is an index where one is not enough",
     into<&ExportOptions::fileGb>()},
};

constexpr Topic kExportTopics[] = {
    topic<Invocation, &Invocation::exported>("Weights", kExported),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kPlan[] = {
    {"--json", flag(), "As JSON, like braidc --report", into<&InfoOptions::json>()},
    {"--tensors", integer("N"), "Largest tensors to list", into<&InfoOptions::tensors>()},
};

constexpr Topic kInfoTopics[] = {
    topic<Invocation, &Invocation::info>("Plan", kPlan),
    topic<Invocation>("Help", kHelp),
};

constexpr Option kAsked[] = {
    {"--device", integer("N", 0, 1 << 16), "GPU whose algorithms to list", into<&MatmulsOptions::device>(),
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
