//===- CheckpointWriter.cpp - saving a training job
//-------------------------===//

#include "core/Checkpoint.h"
#include "core/Error.h"
#include "core/Format.h"
#include "core/LogicalOrder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

namespace {

constexpr size_t chunkBytes = 1 << 20;

// The header's part that never changes: `"name":{...},"name":{...}`.
std::string describeTensors(const br_model &model) {
  std::string text;
  uint64_t at = 0;
  for (const br_tensor &t : tensorsOf(model)) {
    if (!t.checkpoint)
      continue;
    uint64_t end = at + numElements(t) * elementSize(t.dtype);
    nlohmann::ordered_json entry = {
        {"dtype", typeName(t.dtype)},
        {"shape", std::vector<int64_t>(t.shape, t.shape + t.rank)},
        {"data_offsets", {at, end}}};
    text += "," + nlohmann::json(t.name).dump() + ":" + entry.dump();
    at = end;
  }
  return text;
}

std::string describeJob(const br_model &model, const JobState &s) {
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(model.graph_hash));
  nlohmann::ordered_json metadata = {
      {"format", "braid-checkpoint-1"},
      {"model", model.name},
      {"graph_hash", hash},
      {"step", std::to_string(s.step)},
      {"epoch", formatExact(s.epoch)},
      {"tokens_seen", std::to_string(s.tokensSeen)},
      {"last_loss", formatExact(s.lastLoss)},
      {"seed", std::to_string(s.seed)},
      {"batch_seed", std::to_string(s.batchSeed)},
      {"batch_order", s.batchOrder},
      {"lr", formatExact(s.lr)},
      {"min_lr", formatExact(s.minLr)},
      {"warmup", std::to_string(s.warmup)},
      {"decay_steps", std::to_string(s.decaySteps)},
      {"schedule", s.schedule}};
  return metadata.dump();
}

// A rename is on the medium once its directory is.
void syncDirectory(const std::string &directory) {
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

} // namespace

std::string braid::checkpointPath(const std::string &directory, int64_t step) {
  char name[48];
  std::snprintf(name, sizeof name, "/step-%08lld.safetensors",
                static_cast<long long>(step));
  return directory + name;
}

std::vector<int64_t> braid::checkpointSteps(const std::string &directory) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    int64_t step = 0;
    if (name.rfind("step-", 0) != 0 || name.size() < 6)
      continue;
    auto [end, status] =
        std::from_chars(name.data() + 5, name.data() + name.size(), step);
    if (status == std::errc() && std::string(end) == ".safetensors")
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

CheckpointWriter::CheckpointWriter(const Model &model, std::string directory,
                                   int keep)
    : model(model), directory(std::move(directory)),
      entries(describeTensors(model.table())), chunk(chunkBytes), keep(keep) {
  std::error_code error;
  fs::create_directories(this->directory, error);
  if (error)
    fail("cannot create the checkpoint directory '", this->directory,
         "': ", error.message());
  if (access(this->directory.c_str(), W_OK) != 0)
    fail("cannot write checkpoints to '", this->directory,
         "': ", std::strerror(errno));
  steps = checkpointSteps(this->directory);
  steps.reserve(steps.size() + keep + 16);
  header.reserve(entries.size() + 4096);
}

void CheckpointWriter::save(const JobState &state) {
  finalPath = checkpointPath(directory, state.step);
  temporaryPath = finalPath + ".tmp";
  try {
    writeFile(state);
    if (std::rename(temporaryPath.c_str(), finalPath.c_str()) != 0)
      fail("cannot rename '", temporaryPath, "': ", std::strerror(errno));
  } catch (const Error &error) {
    unlink(temporaryPath.c_str());
    fail("the checkpoint of step ", state.step,
         " was not saved (earlier ones are intact): ", error.what());
  }
  syncDirectory(directory);
  if (steps.empty() || steps.back() != state.step)
    steps.push_back(state.step);
  removeOld();
}

void CheckpointWriter::writeFile(const JobState &state) {
  header.assign(8, '\0');
  header += "{\"__metadata__\":";
  header += describeJob(model.table(), state);
  header += entries;
  header += '}';
  while (header.size() % 8)
    header += ' ';
  uint64_t length = header.size() - 8;
  for (int i = 0; i < 8; ++i)
    header[i] = static_cast<char>(length >> (8 * i));

  File file = File::createForWriting(temporaryPath);
  file.write(header.data(), header.size());
  for (const br_tensor &tensor : tensorsOf(model.table()))
    if (tensor.checkpoint)
      writeTensor(file, tensor);
  file.sync();
}

void CheckpointWriter::writeTensor(File &file, const br_tensor &tensor) {
  int64_t size = elementSize(tensor.dtype), count = numElements(tensor);
  if (isDense(tensor))
    return file.write(model.arena() + tensor.offset, count * size);
  int64_t step = static_cast<int64_t>(chunk.size()) / size;
  for (int64_t begin = 0; begin < count; begin += step) {
    int64_t end = std::min(begin + step, count);
    readLogical(tensor, model.arena(), begin, end, chunk.data());
    file.write(chunk.data(), (end - begin) * size);
  }
}

void CheckpointWriter::removeOld() {
  while (keep > 0 && static_cast<int>(steps.size()) > keep) {
    unlink(checkpointPath(directory, steps.front()).c_str());
    steps.erase(steps.begin());
  }
}
