//===- MetricsTest.cpp - logs and events, at a start and at a resume ------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "train/EventFile.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace braid;
using namespace braid::test;
using nlohmann::json;

namespace {

std::vector<json> readLog(const std::string &path) {
  std::istringstream lines(readFile(path));
  std::vector<json> log;
  for (std::string line; std::getline(lines, line);)
    log.push_back(json::parse(line));
  return log;
}

std::vector<int64_t> stepsOf(const std::vector<json> &log) {
  std::vector<int64_t> steps;
  for (const json &line : log)
    steps.push_back(line["step"]);
  return steps;
}

// Reads the events of a directory independently of the runtime: {"step": 3, "loss": 0.5, ...} each.
std::vector<json> readEvents(const std::string &directory) {
  std::vector<json> events;
  for (const std::string &path : eventFiles(directory)) {
    const std::string bytes = readFile(path);
    for (size_t at = 0; at < bytes.size();) {
      const uint64_t length = littleEndianAt(bytes.substr(at, 8));
      const std::string data = bytes.substr(at + 12, length);
      EXPECT_EQ(littleEndian(maskedCrc32c(bytes.substr(at, 8)), 4), bytes.substr(at + 8, 4));
      EXPECT_EQ(littleEndian(maskedCrc32c(data), 4), bytes.substr(at + 12 + length, 4));
      at += 16 + length;
      size_t place = 0;
      auto varint = [&] {
        uint64_t x = 0;
        for (int shift = 0;; shift += 7) {
          const unsigned char byte = data.at(place++);
          x |= uint64_t(byte & 127) << shift;
          if (byte < 128)
            return x;
        }
      };
      json event = {{"step", 0}};
      EXPECT_EQ(data.at(place), 1 << 3 | 1); // wall_time
      place += 9;
      while (place < data.size()) {
        const uint64_t key = varint();
        if (key == (2 << 3 | 0)) {
          event["step"] = varint();
        } else if (key == (3 << 3 | 2)) {
          const uint64_t count = varint();
          event["version"] = data.substr(place, count);
          place += count;
        } else if (key == (10 << 3 | 2)) {
          const uint64_t count = varint();
          event["source"] = data.substr(place + 2, count - 2);
          place += count;
        } else if (key == (5 << 3 | 2)) {
          const size_t end = varint() + place;
          while (place < end) {
            EXPECT_EQ(varint(), 1u << 3 | 2); // a value
            varint();
            EXPECT_EQ(varint(), 1u << 3 | 2); // its tag
            const uint64_t count = varint();
            const std::string tag = data.substr(place, count);
            place += count;
            EXPECT_EQ(varint(), 2u << 3 | 5);
            float value;
            std::memcpy(&value, data.data() + place, 4);
            place += 4;
            event[tag] = value;
          }
        } else {
          ADD_FAILURE() << "unknown field " << key;
          return events;
        }
      }
      events.push_back(event);
    }
  }
  return events;
}

class Metrics : public testing::Test {
protected:
  Outcome train(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", data, "--threads", "1", "--lr", "0.02"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(regressionModel(), arguments);
  }

  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data.safetensors", regressionData());
  std::string log = scratch / "log", events = scratch / "events", saved = scratch / "saved";
};

TEST(EventFile, checksumIsCastagnolis) {
  // RFC 3720, B.4: of 32 zeros 8a9136aa; of 123456789 e3069283.
  auto masked = [](uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; };
  EXPECT_EQ(maskedCrc32c("123456789"), masked(0xe3069283u));
  EXPECT_EQ(maskedCrc32c(std::string(32, '\0')), masked(0x8a9136aau));
}

TEST_F(Metrics, eventsAreThoseOfTheLog) {
  Outcome run = train({"--steps", "300", "--eval-every", "150", "--log", log, "--tensorboard", events});
  ASSERT_EQ(run.status, 0) << run.errors;
  std::vector<json> read = readEvents(events), logged = readLog(log);
  ASSERT_EQ(read.size(), logged.size() + 1);
  EXPECT_EQ(read[0]["version"], "brain.Event:2");
  EXPECT_EQ(read[0]["source"], "braid job=" + logged[0]["job"].get<std::string>());
  EXPECT_FALSE(logged[1].contains("job"));
  for (size_t i = 0; i < logged.size(); ++i)
    for (const auto &[key, value] : logged[i].items())
      if (key != "tokens" && key != "seconds" && key != "job") {
        EXPECT_FLOAT_EQ(read[i + 1][key].get<float>(), value.get<float>()) << key;
      }
}

TEST_F(Metrics, whatAnotherJobHasWrittenStays) {
  ASSERT_EQ(train({"--steps", "3", "--log", log, "--tensorboard", events}).status, 0);
  const std::string before = readFile(log);
  Outcome run = train({"--steps", "2", "--log", log});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("already exists; name another file, or overwrite it with --force"), std::string::npos)
      << run.errors;
  EXPECT_EQ(readFile(log), before);
  run = train({"--steps", "2", "--tensorboard", events});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("already has the events of another job"), std::string::npos) << run.errors;
  ASSERT_EQ(train({"--steps", "2", "--log", log, "--tensorboard", events, "--force"}).status, 0);
  EXPECT_EQ(stepsOf(readLog(log)), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(stepsOf(readEvents(events)), (std::vector<int64_t>{0, 1, 2}));
}

// A killed job has logged steps that it will repeat.
TEST_F(Metrics, resumedJobsRepeatNoStep) {
  ASSERT_EQ(train({"--steps", "300", "--save-every", "150", "--eval-every", "150", "--checkpoint", saved, "--log", log,
                   "--tensorboard", events})
                .status,
            0);
  std::filesystem::remove(saved + "/step-00000300.safetensors");
  writeFile(log, readFile(log) + R"({"step": 301, "lo)");
  Outcome run = train({"--steps", "302", "--checkpoint", saved, "--log", log, "--tensorboard", events, "--resume"});
  ASSERT_EQ(run.status, 0) << run.errors;
  std::vector<int64_t> expected;
  for (int64_t step = 1; step <= 302; ++step) {
    expected.push_back(step);
    if (step == 150)
      expected.push_back(step); // its evaluation
  }
  EXPECT_EQ(stepsOf(readLog(log)), expected);
  std::vector<int64_t> steps = stepsOf(readEvents(events));
  std::erase(steps, 0); // the version, at the beginning of each file
  EXPECT_EQ(steps, expected);
  EXPECT_EQ(eventFiles(events).size(), 2u);
}

// One command starts and restarts a job, even if the job ended before it saved anything.
TEST_F(Metrics, jobsThatMayResumeStartTheirOwnLogAgain) {
  auto start = [&](const char *seed, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--steps",      "3",   "--log",  log,  "--tensorboard", events,
                                          "--checkpoint", saved, "--seed", seed, "--resume=auto"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(arguments);
  };
  ASSERT_EQ(start("1").status, 0);
  std::filesystem::remove_all(saved);
  ASSERT_EQ(start("1").status, 0);
  EXPECT_EQ(stepsOf(readLog(log)), (std::vector<int64_t>{1, 2, 3}));
  std::filesystem::remove_all(saved);
  const std::string before = readFile(log);
  Outcome other = start("2");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.errors.find("another job wrote it, as its first line says; name another file, or overwrite it with "
                              "--force"),
            std::string::npos)
      << other.errors;
  EXPECT_EQ(readFile(log), before);
  ASSERT_EQ(start("2", {"--force"}).status, 0);
  EXPECT_EQ(stepsOf(readLog(log)), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_NE(readFile(log), before);
}

TEST_F(Metrics, otherFilesAreNoLogs) {
  ASSERT_EQ(train({"--steps", "1", "--checkpoint", saved}).status, 0);
  for (const std::string &text :
       {std::string("a list\nof things\n"), std::string(R"({"model_type": "gpt2"})"), std::string(5000, 'x'),
        std::string(R"({"step": 1, "loss": 2.5})") + "\n", std::string(100000, '[') + "\n"}) {
    writeFile(log, text);
    Outcome run = train({"--steps", "2", "--checkpoint", saved, "--log", log, "--resume"});
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.errors.find("log"), std::string::npos) << run.errors;
    EXPECT_EQ(readFile(log), text);
  }
}

TEST_F(Metrics, otherEventsStay) {
  ASSERT_EQ(train({"--steps", "1", "--checkpoint", saved}).status, 0);
  ASSERT_EQ(train({"--steps", "2", "--tensorboard", events, "--seed", "5"}).status, 0);
  const std::string theirs = eventFiles(events).at(0), before = readFile(theirs);
  Outcome run = train({"--steps", "2", "--checkpoint", saved, "--tensorboard", events, "--resume"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("does not say that this job wrote it"), std::string::npos) << run.errors;
  EXPECT_EQ(readFile(theirs), before);
  // No link is followed.
  std::filesystem::remove(theirs);
  const std::string victim = writeFile(scratch / "victim", "precious");
  std::filesystem::create_symlink(victim, theirs);
  EXPECT_EQ(train({"--steps", "2", "--checkpoint", saved, "--tensorboard", events, "--resume"}).status, 1);
  ASSERT_EQ(train({"--steps", "2", "--checkpoint", saved, "--tensorboard", events, "--resume", "--force"}).status, 0);
  EXPECT_EQ(readFile(victim), "precious");
  EXPECT_EQ(eventFiles(events).size(), 1u);
}

TEST_F(Metrics, saysWhatOptionsAreOtherThanBefore) {
  ASSERT_EQ(train({"--steps", "1", "--checkpoint", saved}).status, 0);
  Outcome same = train({"--steps", "2", "--checkpoint", saved, "--resume"});
  ASSERT_EQ(same.status, 0) << same.errors;
  EXPECT_EQ(same.output.find("in the checkpoint"), std::string::npos) << same.output;
  Outcome other = runMain(regressionModel(), {"train", "--data", data, "--steps", "3", "--checkpoint", saved,
                                              "--resume", "--lr", "0.5", "--batch-tokens", "24"});
  ASSERT_EQ(other.status, 0) << other.errors;
  EXPECT_NE(other.output.find("--lr is 0.5, but was 0.02 in the checkpoint\n"), std::string::npos) << other.output;
  EXPECT_NE(other.output.find("a step takes 24 rows, but took 16 when the checkpoint was saved\n"), std::string::npos)
      << other.output;
}

TEST_F(Metrics, jobsSaveByTheClock) {
  ASSERT_EQ(train({"--steps", "20", "--save-every", "0.000001s", "--keep", "0", "--checkpoint", saved}).status, 0);
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(saved))
    count += entry.path().extension() == ".safetensors";
  EXPECT_EQ(count, 20u);
}

} // namespace
