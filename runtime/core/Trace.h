//===- Trace.h - timeline of all ranks, by one clock ----------------------===//
//
// A rank records when its actions began and ended, and when its collectives ran, on the
// communication thread or on a device.  At the end rank 0 collects the records of all ranks.  It
// writes them in Chrome's trace event format, which Perfetto shows: a process for each rank, with
// one lane for computation and one for communication.
//
// Recording ends when a program has run `steps` times.  Times of later runs that a device reports
// meanwhile are left out.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_TRACE_H
#define BRAID_CORE_TRACE_H

#include "braid_rt.h"
#include "comm/Communicator.h"
#include "core/ClockOffset.h"
#include "core/TimedAction.h"

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace braid {

class Trace final : public OperationObserver {
public:
  // `path` is rank 0's output file.  Throws Error if the file cannot be written.
  Trace(const br_model &model, const std::string &path, int64_t steps, int rank);

  bool isRecording() const { return recording; }
  // Adds a run of a program, with its actions in order.
  void add(const br_program &program, std::span<const TimedAction> actions);
  // An action of the running program has started an operation.
  void started(br_ticket ticket, const br_program &program, int32_t action);
  // A message of a pipeline has been started, between programs.
  void startedMessage(br_ticket ticket);
  void ended(br_ticket ticket, double begin, double end) override;
  // Adds an operation that a device has timed.  It began when the previous one ended, but not
  // before `ready`.
  void add(const br_program &program, int32_t action, double ready, double end);

  // Writes the trace together with the other ranks, which must call it too.
  void write(const GatherBlobs &gather) const;

private:
  struct Run {
    const br_program *program;
    std::vector<TimedAction> actions;
  };
  struct Ended {
    br_ticket ticket;
    double begin, end;
  };
  struct Operation {
    const br_program *program; // null: a message between programs
    int32_t action;
    double begin, end;
  };
  bool endsStep(const br_program &program) const;
  double firstBegin() const;
  std::vector<Run> runsInOrder() const;
  std::vector<Operation> operationsInOrder() const;
  std::string eventsText(double zero) const;

  const std::string path;
  const int64_t steps;
  const int rank;
  const br_model &model;
  std::atomic<bool> recording{true};
  double recordedEnd = std::numeric_limits<double>::infinity(); // later events are left out
  std::vector<Run> runs;
  std::vector<int64_t> runsOf; // number of runs of each program
  // The action that started an operation; null for messages.
  std::map<br_ticket, std::pair<const br_program *, int32_t>> starts;
  mutable std::mutex mutex; // guards the communication thread's records
  std::vector<Ended> ends;
  std::vector<Operation> timed; // timed by a device
};

} // namespace braid
#endif // BRAID_CORE_TRACE_H
