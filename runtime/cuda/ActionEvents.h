//===- ActionEvents.h - the time of actions on a device -------------------===//
//
// The clock of a profile (core/Profile.h) and of a trace (core/Trace.h): an event on the compute
// stream before each action, and one behind the last; what lies between two of them is the
// action's time there.  Of a collective that is work on streams an event says when the compute
// stream had come to it, another when the communication stream was through with it.
//
// Events are read when their program runs the second time after, so that measuring does
// not hold the device up; where launching takes longer than running, the time of an
// action is that of its launch.
//
// The same actions are ranges of NVTX, for Nsight Systems.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ACTIONEVENTS_H
#define BRAID_CUDA_ACTIONEVENTS_H

#include "braid_rt.h"
#include "core/Profile.h"
#include "core/Trace.h"
#include "cuda/Check.h"
#include "cuda/DeviceClock.h"
#include "cuda/Streams.h"

#include <functional>
#include <optional>
#include <vector>

namespace braid {

class ActionEvents {
public:
  // Each may be null.
  ActionEvents(const br_model &model, const Streams &streams, Profile *profile, Trace *trace);

  // Around the actions of a program.  `wait` blocks until the device has come by an
  // event.
  using Wait = std::function<void(cudaEvent_t)>;
  void enter(const br_program &program, const Wait &wait);
  void at(int32_t action, ProgramErrors &errors);
  void leave(ProgramErrors &errors);
  // The current action runs this matmul, by its number among the distinct ones.
  void runsMatmul(int32_t matmul);
  bool isInProgram() const { return isRunning; }
  // Around the start of a collective of a program, for the trace.
  void starts(ProgramErrors &errors);
  void started(ProgramErrors &errors);
  // The program that runs, and its action.
  const br_program &program() const { return *current->program; }
  int32_t action() const { return current->marks[current->started % 2].actions.back(); }
  // After the last run: profile and trace have all of them then.
  void finish(const Wait &wait);

private:
  struct Operation {
    int32_t action = 0;
    Event ready = Event(Event::Kind::Timed), end = Event(Event::Kind::Timed);
  };
  // What one run has recorded.
  struct Marks {
    std::vector<Event> events;
    std::vector<int32_t> actions; // before each event but the last
    size_t count = 0;             // of events
    std::vector<Operation> operations;
    size_t startedOperations = 0;
    bool isTraced = false;
  };
  struct Program {
    const br_program *program;
    Marks marks[2]; // of runs in turns
    int64_t started = 0;
  };
  Marks &currentMarks() { return current->marks[current->started % 2]; }
  void mark(int32_t action, ProgramErrors &errors);
  void collect(Program &program, Marks &marks, const Wait &wait);
  void trace(const br_program &program, const Marks &marks, std::vector<TimedAction> actions);

  const Streams &streams;
  Profile *const profile;
  Trace *const tracing;
  std::optional<DeviceClock> clock; // of the trace, from the first run on
  std::vector<Program> programs;
  const br_program *first;
  Program *current = nullptr;
  bool isRunning = false; // the current program
  bool inRange = false;   // of an action, as NVTX has them
};

} // namespace braid
#endif // BRAID_CUDA_ACTIONEVENTS_H
