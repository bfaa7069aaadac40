//===- Trace.h - what all ranks did, on one clock -------------------------===//
//
// A rank notes when its actions began and ended, and when its collectives ran on the
// communication thread.  At the end rank 0 collects the notes of all ranks and writes them in
// Chrome's trace event format, which Perfetto shows: a process for each rank, with a lane for
// computation and one for communication.
//
// Only the first steps are noted: recording ends when a program has run so many times.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_TRACE_H
#define BRAID_CORE_TRACE_H

#include "braid_rt.h"
#include "comm/Communicator.h"
#include "core/TimedAction.h"

#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace braid {

class Trace final : public OperationObserver {
public:
  // `path` is that of rank 0.  Throws Error when that file cannot be written.
  Trace(const br_model &model, const std::string &path, int64_t steps, int rank);

  bool isRecording() const { return recording; }
  // A run of a program, its actions in order.
  void add(const br_program &program, std::span<const TimedAction> actions);
  // An action of the program that is running has started an operation.
  void started(br_ticket ticket, const br_program &program, int32_t action);
  void ended(br_ticket ticket, double begin, double end) override;

  // With the other ranks, which must call it, too; `ranks` is null for one rank alone.
  void write(br_comm *ranks) const;

private:
  struct Run {
    const br_program *program;
    std::vector<TimedAction> actions;
  };
  struct Operation {
    br_ticket ticket;
    double begin, end;
  };
  double firstBegin() const;
  std::string eventsText(double zero) const;

  const std::string path;
  const int64_t steps;
  const int rank;
  const br_program *first;
  std::atomic<bool> recording{true};
  std::vector<Run> runs;
  std::vector<int64_t> runsOf; // each program
  // Which action started an operation.
  std::map<br_ticket, std::pair<const br_program *, int32_t>> starts;
  mutable std::mutex mutex; // of what the communication thread notes
  std::vector<Operation> operations;
};

} // namespace braid
#endif // BRAID_CORE_TRACE_H
