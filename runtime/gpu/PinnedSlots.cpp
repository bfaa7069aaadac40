//===- PinnedSlots.cpp - pinned memory for inputs and results -------------===//

#include "gpu/PinnedSlots.h"

#include "core/Model.h"

using namespace braid;

// Only scalar results are copied early.  Others may be large, and are read from the arena on
// demand.
static bool isScalar(const br_io &io) { return io.bytes <= sizeof(int64_t); }

static constexpr size_t slotAlignment = 64;

// Offsets of copied inputs and results in a slot, followed by the slot's size.
static std::vector<size_t> placesOf(const br_program &program) {
  std::vector<size_t> places;
  size_t at = 0;
  for (int32_t i = 0; i < program.n_inputs + program.n_results; ++i) {
    places.push_back(at);
    const br_io &io = program.ios[i];
    if (i < program.n_inputs || isScalar(io))
      at += (io.bytes + slotAlignment - 1) / slotAlignment * slotAlignment;
  }
  places.push_back(at);
  return places;
}

PinnedSlots::Program::Program(const br_program &program)
    : program(program), places(placesOf(program)), bytes(places.back()), memory(2 * bytes) {}

PinnedSlots::PinnedSlots(const br_model &model, std::byte *arena, const Streams &streams, Wait wait)
    : arena(arena), streams(streams), wait(std::move(wait)) {
  programs.reserve(model.n_programs);
  for (int32_t i = 0; i < model.n_programs; ++i)
    programs.emplace_back(model.programs[i]);
  // No program has run yet: the first inputs wait for nothing.
  ended.record(streams.compute).check();
}

PinnedSlots::Program &PinnedSlots::stateOf(const br_program &program) {
  return programs[&program - &programs.front().program];
}

std::byte *PinnedSlots::input(const br_program &program, const br_io &io) {
  Program &state = stateOf(program);
  if (!state.isWritable) {
    if (state.runs >= 2) // the previous run with this slot
      wait(state.sent[state.runs % 2]);
    state.isWritable = true;
  }
  return state.slot(state.runs) + state.places[&io - program.ios];
}

void PinnedSlots::send(const br_program &program, ProgramErrors &errors) {
  Program &state = stateOf(program);
  const std::byte *slot = state.slot(state.runs);
  const GpuEvent &sent = state.sent[state.runs % 2];
  // After the last program, and after later waits for messages, whose memory the inputs may reuse.
  errors.note(ended.record(streams.compute));
  errors.note(streams.copy.wait(ended));
  for (const br_io &io : inputsOf(program))
    errors.note(streams.copy.copyToDevice(arena + io.offset, slot + state.places[&io - program.ios], io.bytes),
                " of an input");
  errors.note(sent.record(streams.copy));
  errors.note(streams.compute.wait(sent));
  ++state.runs;
  state.isWritable = false;
}

void PinnedSlots::fetch(const br_program &program, ProgramErrors &errors) {
  Program &state = stateOf(program);
  const int64_t run = state.runs - 1;
  errors.note(ended.record(streams.compute));
  errors.note(streams.copy.wait(ended));
  for (const br_io &io : resultsOf(program))
    if (isScalar(io))
      errors.note(
          streams.copy.copyToHost(state.slot(run) + state.places[&io - program.ios], arena + io.offset, io.bytes),
          " of a result");
  errors.note(state.fetched[run % 2].record(streams.copy));
  lastFetched = &state.fetched[run % 2];
}

void PinnedSlots::settle(ProgramErrors &errors) {
  if (lastFetched)
    errors.note(streams.compute.wait(*lastFetched));
  lastFetched = nullptr;
}

const std::byte *PinnedSlots::result(const br_program &program, const br_io &io, int back) {
  Program &state = stateOf(program);
  const int64_t run = state.runs - 1 - back;
  if (!isScalar(io) || run < 0 || back > 1)
    return nullptr;
  wait(state.fetched[run % 2]);
  return state.slot(run) + state.places[&io - program.ios];
}
