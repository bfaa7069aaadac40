//===- Measurement.h - profile and trace by the host's clock --------------===//
//
// Profile and trace of programs that the host runs, by the host's clock.  Without either there is
// no Measurement, and each mark of a program (br_action) is only a branch.
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
  // Returns null if the rank's options ask for neither profile nor trace.
  static std::unique_ptr<Measurement> of(const br_model &model, const Rank &rank, const Collectives &collectives);
  ~Measurement();

  // Called at the start, at each action, and at the end of a program.
  void enter(const br_program &program);
  void at(int32_t action);
  void leave();
  // The current action has started the operation with this ticket.
  void started(br_ticket ticket);

  // Called by all ranks after the last run; the first rank writes the profile, and all write the
  // trace together.  `measureRates` returns the machine's rates, measured by all ranks at the same
  // time.
  void write(const std::function<MachineRates()> &measureRates);

private:
  Measurement(const br_model &model, const Rank &rank, const Collectives &collectives);

  const bool isFirst, isAlone;
  const Collectives &collectives;
  std::optional<Profile> profile;
  std::optional<Trace> trace;
  const br_program *current = nullptr; // null between programs
  std::vector<TimedAction> actions;    // of the current run
};

} // namespace braid
#endif // BRAID_CORE_MEASUREMENT_H
