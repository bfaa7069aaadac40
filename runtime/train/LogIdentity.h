//===- LogIdentity.h - the job that a log belongs to ----------------------===//
//
// The first record of a log or an event file has the identity of its job: the job's id in checkpoints, and
// a hash of all that decides its results from step 0 and of where it saves. A resumed job continues files
// with its own id. A job that starts from step 0 after the same command ended before its first save
// continues files with the same hash, because it computes the same.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_LOGIDENTITY_H
#define BRAID_TRAIN_LOGIDENTITY_H

#include <optional>
#include <string>
#include <string_view>

namespace braid {

struct LogIdentity {
  std::string job;   // 16 digits; empty if the job saves no checkpoint
  std::string start; // 16 digits; empty if the job resumes from a checkpoint

  // Returns "JOB.START".
  std::string text() const { return job + "." + start; }
  bool goesOnWith(std::string_view found) const {
    const size_t dot = found.find('.');
    return dot != found.npos &&
           ((!job.empty() && found.substr(0, dot) == job) || (!start.empty() && found.substr(dot + 1) == start));
  }
};

// Step and identity with which a job continues its logs.
struct LogResume {
  std::optional<int64_t> step; // empty: the job starts new logs
  LogIdentity identity;
};

} // namespace braid
#endif // BRAID_TRAIN_LOGIDENTITY_H
