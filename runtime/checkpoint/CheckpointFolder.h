//===- CheckpointFolder.h - the checkpoints in a directory ----------------===//
//
// step-00000020.safetensors, or a folder step-00000020 of one file a rank and an
// index.  What is being written has the job's id and ".tmp" behind its name until one
// rename makes it a checkpoint; what is being removed ".old.tmp", after one has made it
// none.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_CHECKPOINTFOLDER_H
#define BRAID_CHECKPOINT_CHECKPOINTFOLDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

// The steps of the checkpoints in a directory, ascending; none if it is absent.
std::vector<int64_t> checkpointSteps(const std::string &directory);

// The step of a checkpoint, by its name.
std::optional<int64_t> stepOfCheckpoint(const std::string &path);

// The path of a step's checkpoint, in one file or in several.
std::string checkpointPath(const std::string &directory, int64_t step, bool inFolder);
// Of the one that is there.
std::string checkpointPath(const std::string &directory, int64_t step);

std::string indexPath(const std::string &folder);
std::string rankFilePath(const std::string &folder, int rank);

// Creates the directory if need be.  Throws Error when it cannot be written to.
void prepareDirectory(const std::string &directory);

// Under which a job writes what shall be `path`: two jobs never write to the same place.
std::string temporaryPathOf(const std::string &path, const std::string &job);

// What a job that does not run any more has left of checkpoints that it was writing, and
// what anyone, or a version without ids, has left of those.
void removeLeftovers(const std::string &directory, const std::string &job);

// Gives what was written under `temporary` its name, in place of what had it.
void commitCheckpoint(const std::string &temporary, const std::string &path);
// No moment shows a part of it under its name.  What cannot be removed stays.
void removeCheckpoint(const std::string &path);

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKPOINTFOLDER_H
