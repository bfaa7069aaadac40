//===- Measurement.cpp - profile and trace by the host's clock ------------===//

#include "core/Measurement.h"

#include "base/Clock.h"
#include "comm/GatherBlobs.h"
#include "core/ProfileJson.h"

using namespace braid;

std::unique_ptr<Measurement> Measurement::of(const br_model &model, const Rank &rank, const Collectives &collectives) {
  if (!rank.profile && !rank.trace)
    return nullptr;
  return std::unique_ptr<Measurement>(new Measurement(model, rank, collectives));
}

Measurement::Measurement(const br_model &model, const Rank &rank, const Collectives &collectives)
    : isFirst(rank.isFirst()), isAlone(rank.size == 1), collectives(collectives) {
  // Only the first rank has a profile, but all measure rates, because they share the limits.
  if (rank.profile)
    profile.emplace(model, isFirst ? *rank.profile : "");
  if (!rank.trace)
    return;
  trace.emplace(model, *rank.trace, rank.traceSteps, rank.number);
  if (br_comm *ranks = collectives.communicator())
    ranks->observe(&*trace);
}

Measurement::~Measurement() {
  if (br_comm *ranks = collectives.communicator(); ranks && trace)
    ranks->observe(nullptr);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

void Measurement::enter(const br_program &program) {
  current = &program;
  actions.clear();
  actions.reserve(program.n_actions);
}

void Measurement::at(int32_t action) {
  const double now = secondsNow();
  if (!actions.empty())
    actions.back().end = now;
  actions.push_back({action, now, now});
}

void Measurement::leave() {
  if (!actions.empty())
    actions.back().end = secondsNow();
  if (profile)
    profile->add(*current, actions);
  if (trace && trace->isRecording())
    trace->add(*current, actions);
  current = nullptr;
}

void Measurement::started(br_ticket ticket) {
  if (!trace || !trace->isRecording())
    return;
  if (!current)
    trace->startedMessage(ticket);
  else if (!actions.empty())
    trace->started(ticket, *current, actions.back().action);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void Measurement::write(const std::function<MachineRates()> &measureRates) {
  if (trace)
    trace->write([&](const std::string &own) {
      return isAlone ? std::vector<std::string>{own} : gatherBlobs(*collectives.communicator(), own);
    });
  if (!profile)
    return;
  const MachineRates rates = measureRates();
  if (!isFirst)
    return;
  if (profile->path().empty())
    profile->print(rates);
  else
    writeProfile(*profile, jsonOf(*profile, rates));
}
