//===- CheckpointFolder.h - checkpoints in a directory --------------------===//
//
// A checkpoint is a file step-00000020.safetensors, or a folder step-00000020 with one file per rank and an
// index. While it is written, its name ends in the job's id and ".tmp"; one rename then publishes it. While
// it is removed, its name ends in ".old.tmp", after one rename has withdrawn it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_CHECKPOINTFOLDER_H
#define BRAID_CHECKPOINT_CHECKPOINTFOLDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

// Returns the steps of the checkpoints in a directory, ascending; an empty list if the directory does not
// exist.
std::vector<int64_t> checkpointSteps(const std::string &directory);

// Returns the step in a checkpoint's name.
std::optional<int64_t> stepOfCheckpoint(const std::string &path);

// Returns the path of a step's checkpoint, as a folder or as a single file.
std::string checkpointPath(const std::string &directory, int64_t step, bool inFolder);
// Returns the path of the existing form, by default the single file.
std::string checkpointPath(const std::string &directory, int64_t step);

std::string indexPath(const std::string &folder);
std::string rankFilePath(const std::string &folder, int rank);

// Creates the directory if needed. Throws Error if it is not writable.
void prepareDirectory(const std::string &directory);

// Returns the temporary path under which a job writes `path`; it is different for each job.
std::string temporaryPathOf(const std::string &path, const std::string &job);

// Removes unfinished checkpoints of `job`, which no longer runs. Also removes those of versions without
// ids, and checkpoints that any job had begun to remove.
void removeLeftovers(const std::string &directory, const std::string &job);

// Renames `temporary` to `path` and replaces an older checkpoint there.
void commitCheckpoint(const std::string &temporary, const std::string &path);
// Removes a checkpoint; no part of it is ever visible under its name. Ignores files that cannot be removed.
void removeCheckpoint(const std::string &path);

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKPOINTFOLDER_H
