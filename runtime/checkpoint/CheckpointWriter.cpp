//===- CheckpointWriter.cpp - save a training job -------------------------===//

#include "base/Error.h"
#include "base/File.h"
#include "base/NumberTypes.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/CheckpointIndex.h"
#include "checkpoint/DirectoryLock.h"
#include "core/Agree.h"
#include "core/Mesh.h"
#include "core/TensorPart.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace braid;
namespace fs = std::filesystem;

namespace {

// Bytes in a write. Longer writes are not faster, and make the kernel search for larger pages.
constexpr size_t chunkBytes = 1 << 20;
constexpr size_t maxPendingWrites = 4096;

// Returns the constant part of the header: `,"name":{...},"name":{...}`.
std::string describeTensors(const br_model &model, const std::vector<const br_tensor *> &tensors, int rank) {
  std::string text;
  uint64_t at = 0;
  for (const br_tensor *t : tensors) {
    uint64_t end = at + savedPartOf(model, *t, rank).places() * elementSize(t->dtype);
    nlohmann::ordered_json entry = {
        {"dtype", typeName(t->dtype)}, {"shape", savedShapeOf(model, *t, rank)}, {"data_offsets", {at, end}}};
    text += "," + nlohmann::json(t->name).dump() + ":" + entry.dump();
    at = end;
  }
  return text;
}

// Whether ranks of another kind also write. The first kind sees the others in the list `others`; another
// kind writes if it holds any tensors.
bool othersWrite(const br_model &model) {
  if (!isOfAllRanks(model) && model.coordinates[0] != 0)
    return model.n_tensors > 0;
  for (const br_model *other = model.others; other; other = other->others)
    if (other->n_tensors > 0)
      return true;
  if (!isOfAllRanks(model))
    return false;
  for (int rank = 1; rank < worldSize(model); ++rank)
    if (!savedTensorsOf(model, rank).empty())
      return true;
  return false;
}

// Whether the job may remove a checkpoint. Checkpoints of versions without ids count as the job's own. An
// unreadable checkpoint may belong to any job, so it stays.
bool isOfJob(const std::string &path, const std::string &job) {
  try {
    const std::string id = savedJobId(path);
    return id.empty() || id == job;
  } catch (const Error &) {
    return false;
  }
}

// Describes the checkpoint that a rank's file belongs to; the state of the job is in the index.
std::string describePart(const JobState &state, int rank) {
  return concat(R"({"format":"braid-checkpoint-2-part","job_id":")", state.id, R"(","step":")", state.step,
                R"(","rank":")", rank, R"("})");
}

} // namespace

CheckpointWriter::CheckpointWriter(Model &model, std::string directory, int keep, const std::string &job,
                                   const std::string &resumed, const DirectoryLock *lock)
    : model(model), lock(lock), directory(std::move(directory)),
      ownTensors(savedTensorsOf(model.table(), model.rank().number)), inFolder(othersWrite(model.table())),
      chunk(chunkBytes), keep(keep) {
  const br_model &table = model.table();
  for (const br_tensor &t : tensorsOf(table))
    if (t.checkpoint && t.partial != 0)
      fail("the compiled model is broken: '", t.name,
           "' is saved in checkpoints, but is a sum over ranks that "
           "has not been reduced yet; compile it again");
  allOrNothing(model, [&] {
    if (!model.rank().isFirst())
      return;
    prepareDirectory(this->directory);
    removeLeftovers(this->directory, job);
    for (int64_t step : keep > 0 ? checkpointSteps(this->directory) : std::vector<int64_t>())
      if (isOfJob(checkpointPath(this->directory, step), job))
        steps.push_back(step);
    steps.reserve(steps.size() + keep + 16);
    removeSurplus(resumed);
    if (inFolder)
      parts = describeParts(table);
  });
  entries = describeTensors(table, ownTensors, model.rank().number);
  for (const br_tensor *t : ownTensors)
    blocks += blocksOf(savedPartOf(table, *t, model.rank().number).places() * elementSize(t->dtype), checkedBlockBytes);
  const auto length = [](const char *text) { return text ? std::strlen(text) : 0; };
  const size_t metadata = 2 * (length(table.config) + length(table.operations)); // twice: escapes
  header.reserve(std::max(entries.size() + blocks * checksumDigits, parts.size()) + metadata + 4096);
  pending.reserve(maxPendingWrites);
}

void CheckpointWriter::save(const JobState &state) {
  finalPath = checkpointPath(directory, state.step, inFolder);
  temporaryPath = temporaryPathOf(finalPath, state.id);
  auto undo = [&](const Error &error) {
    std::error_code ignored;
    if (model.rank().isFirst())
      fs::remove_all(temporaryPath, ignored);
    return concat("the checkpoint of step ", state.step, " was not saved (earlier ones are intact): ", error.what());
  };
  try {
    write(state);
  } catch (const RankError &error) {
    throw RankError(undo(error));
  } catch (const Error &error) {
    throw Error(undo(error));
  }
}

// Ranks write only after the folder exists; it gets its final name after all have written. All ranks wait
// until the first rank is done: otherwise they would wait for it in the next step.
void CheckpointWriter::write(const JobState &state) {
  const bool first = model.rank().isFirst();
  allOrNothing(model, [&] {
    if (lock)
      lock->check();
    if (!first || !inFolder)
      return;
    std::error_code ignored;
    fs::remove_all(temporaryPath, ignored);
    makePrivateFolder(temporaryPath);
  });
  allOrNothing(model, [&] { writeFiles(state); });
  allOrNothing(model, [&] {
    if (!first)
      return;
    if (lock)
      lock->check();
    commitCheckpoint(temporaryPath, finalPath);
    removeOld(state.step);
  });
}

void CheckpointWriter::writeFiles(const JobState &state) {
  const int rank = model.rank().number;
  if (!inFolder) {
    if (rank == 0)
      writePart(temporaryPath, describeJob(model.table(), state, "braid-checkpoint-1"));
    return;
  }
  if (!ownTensors.empty())
    writePart(rankFilePath(temporaryPath, rank), describePart(state, rank));
  if (rank == 0)
    writeIndex(state);
}

void CheckpointWriter::writeIndex(const JobState &state) {
  header = kSealedIndex;
  header.append(checksumDigits, '0') += "\",\"job\":";
  header += describeJob(model.table(), state, "braid-checkpoint-2");
  header += parts;
  seal(header, kSealedIndex.size());
  File file = File::createPrivate(indexPath(temporaryPath));
  file.write(header.data(), header.size());
  file.sync();
  file.publish();
}

// Writes the header again, with the checksums, after the data; until then the checksums in the header are
// zeros.
void CheckpointWriter::writePart(const std::string &path, const std::string &metadata) {
  header.assign(8, '\0');
  header += kSealedHeader;
  const size_t ownChecksum = header.size();
  header.append(checksumDigits, '0');
  header += concat("\",\"", kBlockBytes, "\":\"", checkedBlockBytes, "\",\"", kBlockChecksums, "\":\"");
  const size_t checksums = header.size();
  header.append(blocks * checksumDigits, '0') += "\",";
  header.append(metadata, 1); // without its opening brace
  header += entries;
  header += '}';
  while (header.size() % 8)
    header += ' ';
  uint64_t length = header.size() - 8;
  for (int i = 0; i < 8; ++i)
    header[i] = static_cast<char>(length >> (8 * i));

  File file = File::createPrivate(path);
  file.write(header.data(), header.size());
  CheckedWriter data(file, header.data() + checksums);
  for (size_t i = 0; i < ownTensors.size(); ++i)
    model.onHost(*ownTensors[i], Use::Read, [&](const std::byte *memory) {
      if (i + 1 < ownTensors.size()) // a device copies the next tensor while this one is written
        model.expect(*ownTensors[i + 1]);
      writeTensor(data, *ownTensors[i], memory);
    });
  seal(header, ownChecksum);
  file.writeAt(0, header.data(), header.size());
  file.sync();
  file.publish();
}

// Writes long runs directly from their memory, and short runs through the chunk.
void CheckpointWriter::writeTensor(CheckedWriter &file, const br_tensor &tensor, const std::byte *memory) {
  const int rank = model.rank().number;
  const int64_t size = elementSize(tensor.dtype), room = static_cast<int64_t>(chunk.size()) / size;
  int64_t filled = 0;
  auto flush = [&] {
    copyRuns(pending, memory, chunk.data(), size);
    file.write(chunk.data(), filled * size);
    pending.clear();
    filled = 0;
  };
  forEachRun(savedPartOf(model.table(), tensor, rank), partOf(model.table(), tensor, rank), [&](const Run &run) {
    const bool isLong = run.otherStep == 1 && run.count >= room;
    if (isLong)
      flush();
    for (int64_t done = 0, count; done < run.count; done += count) {
      const int64_t from = run.otherPlace + done * run.otherStep;
      count = std::min(run.count - done, room - filled);
      if (isLong) {
        file.write(memory + from * size, count * size);
        continue;
      }
      pending.push_back({from, run.otherStep, filled, 1, count});
      filled += count;
      if (filled == room || pending.size() == pending.capacity())
        flush();
    }
  });
  flush();
  file.endTensor();
}

void CheckpointWriter::removeOld(int64_t step) {
  // The same step may have been saved on another mesh, in the other form.
  removeCheckpoint(checkpointPath(directory, step, !inFolder));
  // Moves the step to the end, even after later steps: those were not readable.
  std::erase(steps, step);
  steps.push_back(step);
  removeSurplus("");
}

void CheckpointWriter::removeSurplus(const std::string &excluded) {
  for (auto step = steps.begin(); keep > 0 && static_cast<int>(steps.size()) > keep && step != steps.end();) {
    const std::string path = checkpointPath(directory, *step);
    if (path == excluded) {
      ++step;
      continue;
    }
    removeCheckpoint(path);
    step = steps.erase(step);
  }
}
