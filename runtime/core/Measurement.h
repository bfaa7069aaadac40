//===- Measurement.h - what is asked of a rank's time ---------------------===//
//
// The profile and the trace of programs that the host runs, with its clock.  A program that
// nobody measures has none, and its marks (br_action) are a branch each.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_MEASUREMENT_H
#define BRAID_CORE_MEASUREMENT_H

#include "comm/Rank.h"
#include "core/Collectives.h"
#include "core/Profile.h"
#include "core/Trace.h"

#include <functional>
#include <memory>
#include <optional>

namespace braid {

class Measurement {
public:
  // Null where the rank's options ask for nothing.
  static std::unique_ptr<Measurement> of(const br_model &model, const Rank &rank, const Collectives &collectives);
  ~Measurement();

  // Around the actions of a program.
  void enter(const br_program &program);
  void at(int32_t action);
  void leave();
  // The current action has started this operation.
  void started(br_ticket ticket);

  // After the last run, on all ranks: of which the first writes what was asked for.  `measureRates`
  // is what the machine reaches while all ranks measure it.
  void write(const std::function<MachineRates()> &measureRates);

private:
  Measurement(const br_model &model, const Rank &rank, const Collectives &collectives);

  const bool isFirst, isAlone;
  const Collectives &collectives;
  std::optional<Profile> profile;
  std::optional<Trace> trace;
  const br_program *current = nullptr; // null between programs
  std::vector<TimedAction> actions;    // of the run
};

} // namespace braid
#endif // BRAID_CORE_MEASUREMENT_H
