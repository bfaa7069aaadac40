//===- ActionEvents.cpp - the time of actions on a device -----------------===//

#include "cuda/ActionEvents.h"

#include <nvtx3/nvToolsExt.h>

using namespace braid;

ActionEvents::ActionEvents(const br_model &model, cudaStream_t stream, Profile &profile)
    : stream(stream), profile(profile), first(model.programs) {
  for (int32_t i = 0; i < model.n_programs; ++i)
    programs.emplace_back().program = &model.programs[i];
}

void ActionEvents::enter(const br_program &program, const Wait &wait) {
  current = &programs[&program - first];
  Marks &marks = currentMarks();
  collect(*current, marks, wait);
  // Nothing may throw while the program runs.
  const size_t actions = program.n_actions;
  while (marks.events.size() <= actions)
    marks.events.emplace_back(Event::Kind::Timed);
  marks.actions.reserve(actions);
  nvtxRangePushA(program.name);
}

void ActionEvents::mark(int32_t action, ProgramErrors &errors) {
  Marks &marks = currentMarks();
  errors.note(cudaEventRecord(marks.events[marks.count++], stream), "cudaEventRecord");
  if (action >= 0)
    marks.actions.push_back(action);
  if (inRange)
    nvtxRangePop();
  inRange = action >= 0;
}

void ActionEvents::at(int32_t action, ProgramErrors &errors) {
  const int32_t actions = current->program->n_actions;
  if (action < 0 || action >= actions || currentMarks().count == static_cast<size_t>(actions))
    return;
  mark(action, errors);
  nvtxRangePushA(current->program->actions[action].name);
}

void ActionEvents::runsMatmul(int32_t matmul) {
  const Marks &marks = currentMarks();
  if (!marks.actions.empty())
    profile.runsMatmul(*current->program, marks.actions.back(), matmul);
}

void ActionEvents::leave(ProgramErrors &errors) {
  mark(-1, errors);
  nvtxRangePop();
  ++current->started;
}

// Gives the profile what a run has recorded, and makes room for another.
void ActionEvents::collect(Program &program, Marks &marks, const Wait &wait) {
  if (marks.count == 0)
    return;
  wait(marks.events[marks.count - 1]);
  std::vector<TimedAction> actions;
  double at = 0;
  for (size_t i = 0; i + 1 < marks.count; ++i) {
    float milliseconds = 0;
    checkCuda(cudaEventElapsedTime(&milliseconds, marks.events[i], marks.events[i + 1]), "cudaEventElapsedTime");
    const double end = at + milliseconds / 1e3;
    actions.push_back({marks.actions[i], at, end});
    at = end;
  }
  profile.add(*program.program, actions);
  marks.count = 0;
  marks.actions.clear();
}

// The marks of the run before the last come first.
void ActionEvents::finish(const Wait &wait) {
  for (Program &program : programs)
    for (int64_t turn : {0, 1})
      collect(program, program.marks[(program.started + turn) % 2], wait);
}
