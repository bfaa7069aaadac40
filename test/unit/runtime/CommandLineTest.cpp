//===- CommandLineTest.cpp - flags, help and refusals at start ------------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "cli/Names.h"
#include "cli/ProgramOptions.h"
#include "cli/Synonyms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace braid::test;

namespace {

TEST(CommandLine, mistakesAreStatusTwo) {
  for (std::vector<std::string> arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"trian"},
                                             {"train"},
                                             {"train", "--data", "x", "--steps", "1", "--stpes", "2"},
                                             {"train", "--data", "x", "--steps", "many"},
                                             {"train", "--data", "x", "--steps", "0"},
                                             {"train", "--data", "x", "--steps", "1", "--lr-schedule", "linear"},
                                             {"train", "--data", "x", "--steps", "1", "--resume"},
                                             {"train", "--data", "x", "--steps", "1", "--threads", "0"},
                                             {"train", "--data", "x", "--steps", "1", "--ranks", "0"},
                                             {"train", "--data", "x", "--steps", "1", "--transport", "tcp"},
                                             {"train", "--data", "x", "--steps", "1", "--timeout", "0"},
                                             {"train", "--data", "x", "--steps", "1", "--timeout", "1e10"},
                                             {"train", "--data", "x", "--steps", "1", "--holdout", "nan"},
                                             {"train", "--data", "x", "--steps", "1", "--seed", "-1"},
                                             {"train", "--data", "x", "--steps", "1", "--link", "20"},
                                             {"train", "--data", "x", "--steps", "1", "--link", "20,fast"},
                                             {"train", "--data", "x", "--steps", "1", "--pin", "maybe"},
                                             {"train", "--data", "x", "--steps", "1", "--batch-tokens", "0"},
                                             {"eval", "--data", "x"},
                                             {"sample"}}) {
    Outcome run = runMain(regressionModel(), arguments);
    EXPECT_EQ(run.status, 2) << run.output << run.errors;
    EXPECT_FALSE(run.errors.empty());
  }
}

TEST(CommandLine, optionsOfOthersAreAnsweredWithTheRightOne) {
  const std::map<std::vector<std::string>, std::string> answers = {
      {{"train", "--precision=bf16"}, "--precision is an option of braidc: compile with it"},
      {{"train", "--seq", "64"}, "--seq is an option of braid-model: make the graph with it"},
      {{"eval", "--steps", "5"}, "--steps is an option of the command train: give it there"},
      {{"export", "--temperature=0"}, "--temperature is an option of the command sample: give it there"},
      {{"--steps", "5"}, "--steps is an option of the command train: give it there"},
      {{"train", "--learning-rate=1"}, "unknown option '--learning-rate'; did you mean '--lr'?"},
      {{"train", "--learning_rate", "1"}, "unknown option '--learning_rate'; did you mean '--lr'?"},
      {{"train", "--epochs=3"}, "unknown option '--epochs'; did you mean '--steps'? Each step's line says"},
      {{"train", "--batch-size=8"}, "unknown option '--batch-size'; did you mean '--batch-tokens'? The graph has"},
      {{"eval", "--grad-clip=1"}, "unknown option '--grad-clip'; did you mean '--clip' of braidc?"},
      {{"train", "-np", "4"}, "unknown option '-np'; did you mean '--ranks'?"},
      {{"train", "--precison=bf16"}, "unknown option '--precison'; did you mean '--precision' of braidc?"},
      {{"train", "--schedule=cosine"},
       "--schedule is no longer an option: the schedule of the learning rate is --lr-schedule"},
      {{"sample", "--max-new-tokens=9"}, "unknown option '--max-new-tokens'; did you mean '--length'?"},
      {{"generate"}, "unknown command 'generate'; did you mean 'sample'?"},
  };
  for (const auto &[arguments, expected] : answers) {
    const Outcome run = runMain(regressionModel(), arguments);
    EXPECT_EQ(run.status, 2) << expected;
    EXPECT_EQ(run.errors.find("error: " + expected), 0u) << run.errors << " for " << expected;
  }
}

// A word that is an option is found as one; a word with two meanings would have only the first.
TEST(CommandLine, synonymsLeadToOptions) {
  auto isOption = [](std::string_view name) {
    return std::ranges::any_of(braid::cli::kProgramOptions,
                               [&](auto &program) { return braid::cli::isAmong(name, program.names); });
  };
  std::map<std::string_view, int> rows;
  for (const braid::cli::Synonym &row : braid::cli::kSynonyms) {
    for (std::string_view word : braid::cli::split(row.words, ' ')) {
      EXPECT_FALSE(isOption(word)) << word;
      EXPECT_EQ(++rows[word], 1) << word;
    }
    for (std::string_view option : braid::cli::split(row.options, ' '))
      EXPECT_TRUE(isOption(option)) << option;
  }
  EXPECT_GT(rows.size(), 200u);
}

TEST(CommandLine, helpAndVersion) {
  Outcome version = runMain(regressionModel(), {"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_NE(version.output.find("model regression"), std::string::npos);
  Outcome help = runMain(regressionModel(), {"train", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char *option :
       {"--data",         "--holdout",     "--steps",        "--batch-seed",   "--seed",      "--lr",
        "--warmup",       "--min-lr",      "--lr-schedule",  "--threads",      "--log",       "--eval-every",
        "--eval-batches", "--checkpoint",  "--save-every",   "--save-timeout", "--keep",      "--resume",
        "--init",         "--batch-order", "--batch-tokens", "--ranks",        "--transport", "--timeout",
        "--rendezvous",   "--link",        "--pin",          "--token-file"})
    EXPECT_NE(help.output.find(option), std::string::npos) << option;
}

TEST(CommandLine, infoPrintsThePlan) {
  Outcome table = runMain(regressionModel(), {"info"});
  EXPECT_EQ(table.status, 0);
  EXPECT_NE(table.output.find("parameters"), std::string::npos);
  EXPECT_NE(table.output.find("largest tensors"), std::string::npos);
  Outcome json = runMain(regressionModel(), {"info", "--json"});
  EXPECT_EQ(json.output, std::string(regressionModel().plan_json) + "\n");
}

TEST(CommandLine, anotherProcessorIsRefused) {
  br_model model = regressionModel();
  model.cpu_features = "sse2 avx9000f";
  Outcome run = runMain(model, {"train", "--data", "x", "--steps", "1"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("compiled for a processor with avx9000f"), std::string::npos) << run.errors;
}

TEST(CommandLine, moreMemoryThanThereIs) {
  br_model model = regressionModel();
  model.arena_bytes = uint64_t{1} << 50;
  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data", regressionData());
  Outcome run = runMain(model, {"train", "--data", data, "--steps", "1"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("needs an arena of 1.0 PiB"), std::string::npos) << run.errors;
}

TEST(CommandLine, otherInterfaceVersion) {
  br_model model = regressionModel();
  model.abi_version = 99;
  EXPECT_NE(runMain(model, {"train", "--data", "x", "--steps", "1"}).errors.find("version 99"), std::string::npos);
}

TEST(CommandLine, tensorOutsideTheArena) {
  br_model model = regressionModel();
  model.arena_bytes = 64;
  model.n_matmuls = 0;
  Outcome run = runMain(model, {"train", "--data", "x", "--steps", "1"});
  EXPECT_NE(run.errors.find("lies outside the arena of 64 bytes"), std::string::npos) << run.errors;
}

} // namespace
