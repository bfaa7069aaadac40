//===- LogIdentity.h - which job a log belongs to -------------------------===//
//
// A log and a file of events say in their first record whose they are: the id that the job has in
// its checkpoints, and a hash of what it computes from step 0 and where it saves.  A job goes on
// with what carries its id.  A job that starts from step 0, because one of the same command was
// ended before it saved anything, goes on with what carries the same hash: it computes the same.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_LOGIDENTITY_H
#define BRAID_TRAIN_LOGIDENTITY_H

#include <optional>
#include <string>
#include <string_view>

namespace braid {

struct LogIdentity {
  std::string job;   // 16 digits; empty: the job saves nothing
  std::string start; // 16 digits; empty: the job goes on from a checkpoint

  // "JOB.START".
  std::string text() const { return job + "." + start; }
  bool goesOnWith(std::string_view found) const {
    const size_t dot = found.find('.');
    return dot != found.npos &&
           ((!job.empty() && found.substr(0, dot) == job) || (!start.empty() && found.substr(dot + 1) == start));
  }
};

// Where a job goes on with its logs: the step, and who it is.
struct LogResume {
  std::optional<int64_t> step; // nothing: the job writes all anew
  LogIdentity identity;
};

} // namespace braid
#endif // BRAID_TRAIN_LOGIDENTITY_H
