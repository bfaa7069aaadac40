//===- CheckpointFolder.cpp - checkpoints in a directory ------------------===//

#include "checkpoint/CheckpointFolder.h"

#include "base/Error.h"
#include "base/File.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view fileSuffix = ".safetensors", temporarySuffix = ".tmp", removedSuffix = ".old.tmp";

// Returns the step of a name such as "step-00000020" with one of these suffixes.
std::optional<int64_t> stepOf(const std::string &name, std::initializer_list<std::string_view> suffixes) {
  int64_t step = 0;
  if (name.rfind("step-", 0) != 0)
    return std::nullopt;
  auto [end, status] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
  std::string_view rest(end, name.data() + name.size() - end);
  if (status != std::errc() || step < 0 || std::find(suffixes.begin(), suffixes.end(), rest) == suffixes.end())
    return std::nullopt;
  return step;
}

} // namespace

std::optional<int64_t> braid::stepOfCheckpoint(const std::string &path) {
  return stepOf(fs::path(path).filename().string(), {"", fileSuffix});
}

std::vector<int64_t> braid::checkpointSteps(const std::string &directory) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
    if (auto step = stepOfCheckpoint(entry.path().string()))
      steps.push_back(*step);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::string braid::checkpointPath(const std::string &directory, int64_t step, bool inFolder) {
  char name[48];
  std::snprintf(name, sizeof name, "/step-%08lld", static_cast<long long>(step));
  return concat(directory, name, inFolder ? "" : fileSuffix);
}

std::string braid::checkpointPath(const std::string &directory, int64_t step) {
  std::string folder = checkpointPath(directory, step, true);
  return isFolder(folder) ? folder : checkpointPath(directory, step, false);
}

std::string braid::indexPath(const std::string &folder) { return folder + "/index.json"; }

std::string braid::rankFilePath(const std::string &folder, int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d", rank);
  return concat(folder, name, fileSuffix);
}

void braid::prepareDirectory(const std::string &directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    fail("cannot create the checkpoint directory '", directory, "': ", error.message());
  if (access(directory.c_str(), W_OK) != 0)
    fail("cannot write checkpoints to '", directory, "': ", std::strerror(errno));
}

std::string braid::temporaryPathOf(const std::string &path, const std::string &job) {
  return concat(path, job.empty() ? "" : ".", job, temporarySuffix);
}

void braid::removeLeftovers(const std::string &directory, const std::string &job) {
  const std::string file(fileSuffix), own = temporaryPathOf("", job), ownFile = temporaryPathOf(file, job);
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
    if (stepOf(entry.path().filename().string(),
               {own, ownFile, removedSuffix, temporarySuffix, temporaryPathOf(file, "")}))
      leftovers.push_back(entry.path());
  for (const fs::path &path : leftovers)
    fs::remove_all(path, error);
}

void braid::commitCheckpoint(const std::string &temporary, const std::string &path) {
  if (isFolder(temporary)) {
    publishFolder(temporary);
    syncDirectory(temporary);
    if (fileExists(path)) // rename cannot replace a folder that is not empty
      removeCheckpoint(path);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    fail("cannot rename '", temporary, "': ", std::strerror(errno));
  syncDirectory(fs::path(path).parent_path());
}

void braid::removeCheckpoint(const std::string &path) {
  std::error_code error;
  if (!isFolder(path)) {
    fs::remove(path, error);
    return;
  }
  const std::string leftover = concat(path, removedSuffix);
  fs::remove_all(leftover, error);
  fs::rename(path, leftover, error);
  fs::remove_all(leftover, error);
}
