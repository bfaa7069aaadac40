//===- ActionEvents.cpp - times of actions on a device --------------------===//

#include "gpu/ActionEvents.h"

#include "gpu/Device.h"

using namespace braid;

ActionEvents::ActionEvents(const br_model &model, const Streams &streams, Profile *profile, Trace *trace)
    : streams(streams), profile(profile), tracing(trace), first(model.programs) {
  for (int32_t i = 0; i < model.n_programs; ++i)
    programs.emplace_back().program = &model.programs[i];
}

void ActionEvents::enter(const br_program &program, const Wait &wait) {
  current = &programs[&program - first];
  isRunning = true;
  Marks &marks = currentMarks();
  collect(*current, marks, wait);
  // Reserves all memory now: nothing may throw while the program runs.
  const size_t actions = program.n_actions;
  while (marks.events.size() <= actions)
    marks.events.emplace_back(GpuEvent::Kind::Timed);
  marks.actions.reserve(actions);
  marks.isTraced = tracing && tracing->isRecording();
  if (marks.isTraced && !clock)
    clock.emplace(streams.compute);
  beginRange(program.name);
}

void ActionEvents::mark(int32_t action, ProgramErrors &errors) {
  Marks &marks = currentMarks();
  errors.note(marks.events[marks.count++].record(streams.compute));
  if (action >= 0)
    marks.actions.push_back(action);
  if (inRange)
    endRange();
  inRange = action >= 0;
}

void ActionEvents::at(int32_t action, ProgramErrors &errors) {
  const int32_t actions = current->program->n_actions;
  if (action < 0 || action >= actions || currentMarks().count == static_cast<size_t>(actions))
    return;
  mark(action, errors);
  beginRange(current->program->actions[action].name);
}

void ActionEvents::runsMatmul(int32_t matmul) {
  const Marks &marks = currentMarks();
  if (profile && !marks.actions.empty())
    profile->runsMatmul(*current->program, marks.actions.back(), matmul);
}

void ActionEvents::starts(ProgramErrors &errors) {
  Marks &marks = currentMarks();
  if (!marks.isTraced || marks.actions.empty())
    return;
  if (marks.operations.size() == marks.startedOperations)
    marks.operations.emplace_back();
  Operation &operation = marks.operations[marks.startedOperations];
  operation.action = marks.actions.back();
  errors.note(operation.ready.record(streams.compute));
}

void ActionEvents::started(ProgramErrors &errors) {
  Marks &marks = currentMarks();
  if (!marks.isTraced || marks.actions.empty())
    return;
  Operation &operation = marks.operations[marks.startedOperations++];
  errors.note(operation.end.record(streams.communication));
}

void ActionEvents::leave(ProgramErrors &errors) {
  mark(-1, errors);
  endRange();
  ++current->started;
  isRunning = false;
}

// Gives the recorded actions of a run to the trace.  The durations of actions are exact; the time
// of the run's start is not.
void ActionEvents::trace(const br_program &program, const Marks &marks, std::vector<TimedAction> actions) {
  for (size_t i = 0; i < marks.startedOperations; ++i) {
    const Operation &operation = marks.operations[i];
    tracing->add(program, operation.action, clock->timeOf(operation.ready), clock->timeOf(operation.end));
  }
  const double begin = clock->timeOf(marks.events[0]);
  for (TimedAction &action : actions) {
    action.begin += begin;
    action.end += begin;
  }
  tracing->add(program, actions);
}

// Gives the recorded times of a run to profile and trace, and clears the marks for another run.
void ActionEvents::collect(Program &program, Marks &marks, const Wait &wait) {
  if (marks.count == 0)
    return;
  wait(marks.events[marks.count - 1]);
  for (size_t i = 0; i < marks.startedOperations; ++i)
    wait(marks.operations[i].end);
  std::vector<TimedAction> actions;
  double at = 0;
  for (size_t i = 0; i + 1 < marks.count; ++i) {
    const double end = at + marks.events[i].millisecondsTo(marks.events[i + 1]) / 1e3;
    actions.push_back({marks.actions[i], at, end});
    at = end;
  }
  if (profile)
    profile->add(*program.program, actions);
  if (marks.isTraced)
    trace(*program.program, marks, std::move(actions));
  marks.count = marks.startedOperations = 0;
  marks.actions.clear();
}

// Collects the marks of the older run first.
void ActionEvents::finish(const Wait &wait) {
  for (Program &program : programs)
    for (int64_t turn : {0, 1})
      collect(program, program.marks[(program.started + turn) % 2], wait);
}
