//===- ActionEvents.h - times of actions on a device ----------------------===//
//
// The clock of a profile (core/Profile.h) and of a trace (core/Trace.h).  It records an event on
// the compute stream before each action and one after the last; the time between two events is the
// action's time on that stream.  For a collective that runs on streams, one event marks when the
// compute stream reached it, and another when the communication stream finished it.
//
// Events are read two runs of their program later, so that measuring does not stall the device.
// Where a launch takes longer than the action itself, the measured time is the launch time.
//
// The same actions are ranges of the vendor's profiler, such as Nsight Systems.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_ACTIONEVENTS_H
#define BRAID_GPU_ACTIONEVENTS_H

#include "braid_rt.h"
#include "core/Profile.h"
#include "core/Trace.h"
#include "gpu/DeviceClock.h"

#include <functional>
#include <optional>
#include <vector>

namespace braid {

class ActionEvents {
public:
  // `profile` and `trace` may each be null.
  ActionEvents(const br_model &model, const Streams &streams, Profile *profile, Trace *trace);

  // Called at the start, at each action, and at the end of a program.  `wait` blocks until the
  // device has passed an event.
  using Wait = std::function<void(const GpuEvent &)>;
  void enter(const br_program &program, const Wait &wait);
  void at(int32_t action, ProgramErrors &errors);
  void leave(ProgramErrors &errors);
  // The current action runs this matmul; `matmul` is its number among the distinct matmuls.
  void runsMatmul(int32_t matmul);
  bool isInProgram() const { return isRunning; }
  // Called before and after the start of a program's collective, for the trace.
  void starts(ProgramErrors &errors);
  void started(ProgramErrors &errors);
  // The running program, and its current action.
  const br_program &program() const { return *current->program; }
  int32_t action() const { return current->marks[current->started % 2].actions.back(); }
  // Called after the last run; completes profile and trace.
  void finish(const Wait &wait);

private:
  struct Operation {
    int32_t action = 0;
    GpuEvent ready = GpuEvent(GpuEvent::Kind::Timed), end = GpuEvent(GpuEvent::Kind::Timed);
  };
  // Events and actions of one run.
  struct Marks {
    std::vector<GpuEvent> events;
    std::vector<int32_t> actions; // action after each event; none after the last event
    size_t count = 0;             // number of events
    std::vector<Operation> operations;
    size_t startedOperations = 0;
    bool isTraced = false;
  };
  struct Program {
    const br_program *program;
    Marks marks[2]; // for alternate runs
    int64_t started = 0;
  };
  Marks &currentMarks() { return current->marks[current->started % 2]; }
  void mark(int32_t action, ProgramErrors &errors);
  void collect(Program &program, Marks &marks, const Wait &wait);
  void trace(const br_program &program, const Marks &marks, std::vector<TimedAction> actions);

  const Streams &streams;
  Profile *const profile;
  Trace *const tracing;
  std::optional<DeviceClock> clock; // of the trace; made in the first run
  std::vector<Program> programs;
  const br_program *first;
  Program *current = nullptr;
  bool isRunning = false; // whether the current program runs
  bool inRange = false;   // whether a range of an action is open
};

} // namespace braid
#endif // BRAID_GPU_ACTIONEVENTS_H
