//===- Verify.cpp - verify the checksums of checkpoints -------------------===//
//
// Reads every byte of a checkpoint once, through a buffer, and compares all checksums. Needs neither ranks
// nor memory for the model.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/File.h"
#include "base/Format.h"
#include "base/Message.h"
#include "checkpoint/Checkpoint.h"
#include "train/Commands.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace braid;
namespace fs = std::filesystem;

namespace {

// Throws Error if the checkpoint is damaged; the message says where.
void readAll(const SavedTensors &saved) {
  std::vector<std::byte> buffer(1 << 20);
  saved.forEachPiece([](const std::string &, const TensorPart &) { return true; },
                     [&](const std::string &, const SavedTensors::Piece &piece) {
                       const uint64_t all = piece.entry.end - piece.entry.begin;
                       for (uint64_t at = 0, count; at < all; at += count) {
                         count = std::min<uint64_t>(buffer.size(), all - at);
                         piece.file.read(piece.entry, at, buffer.data(), count);
                       }
                     });
}

// Formats as "5 files, 1,234,567 bytes".
std::string describeSize(const std::string &path) {
  uint64_t files = 0, bytes = 0;
  std::error_code ignored;
  auto add = [&](const fs::path &file) {
    if (const uint64_t size = fs::file_size(file, ignored); !ignored)
      ++files, bytes += size;
  };
  if (!isFolder(path))
    add(path);
  else
    for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored))
      add(entry.path());
  return concat(formatCount(files), files == 1 ? " file, " : " files, ", formatCount(bytes), " bytes");
}

// Prints a line; returns whether the checkpoint is whole.
bool verify(const std::string &path) {
  std::string name = fs::path(path).filename().string();
  if (const auto step = stepOfCheckpoint(path))
    name = "step " + formatCount(*step);
  try {
    const SavedTensors saved(path);
    readAll(saved);
    std::printf("%s: %s: ok%s\n", name.c_str(), describeSize(path).c_str(),
                saved.hasChecksums() ? "" : ", but without checksums, so damage to its data would go unnoticed");
    return true;
  } catch (const Error &error) {
    std::printf("%s: %s\n", name.c_str(), printable(error.what()).c_str());
    return false;
  }
}

} // namespace

int braid::runVerify(const VerifyOptions &options) {
  const std::string path = fs::path(options.path + "/").parent_path().lexically_normal().string();
  if (!isFolder(path) || fileExists(indexPath(path)) || stepOfCheckpoint(path))
    return verify(path) ? 0 : 1;
  const std::vector<int64_t> steps = checkpointSteps(path);
  if (steps.empty())
    fail("no checkpoint (step-*) found in '", path, "'");
  // Verifies all checkpoints, even after a damaged one.
  return std::count_if(steps.begin(), steps.end(), [&](int64_t step) { return !verify(checkpointPath(path, step)); }) ==
                 0
             ? 0
             : 1;
}
