//===- Profile.h - how long the actions of programs take ------------------===//
//
// The mean and the shortest time of each action over the runs of its program, beside the least
// that it could take on the machine (MachineRates.h); and sums over the actions that have a
// kernel, an op, a unit or a phase in common.  The clock is the target's.
//
// A program's first run is left out where there are others: libraries make themselves ready in
// it.  A collective's start takes hardly any time; its wait takes what computation does not hide.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_PROFILE_H
#define BRAID_CORE_PROFILE_H

#include "core/MachineRates.h"
#include "core/TimedAction.h"

#include <span>
#include <string>
#include <vector>

namespace braid {

class Profile {
public:
  struct Program {
    const br_program *program;
    int64_t runs = 0;      // that are counted
    bool hasWarmUp = true; // the one that is counted is the first
    // Of all runs that are counted, and the shortest of them; by action.
    std::vector<double> seconds, fastest;
    std::vector<int32_t> matmuls; // the product that the action runs, by its number in a search; -1: none

    double total() const;
  };

  // What actions have in common, and the sums over them; of a run.
  struct Sums {
    std::string name;
    int64_t actions = 0;
    double seconds = 0, fastest = 0, flops = 0, bytes = 0, limit = 0;
  };

  // `path` is where the times go; empty: to standard output.  Throws Error when that file cannot
  // be written.
  Profile(const br_model &model, const std::string &path);

  // A run of a program, its actions in order.
  void add(const br_program &program, std::span<const TimedAction> actions);
  void runsMatmul(const br_program &program, int32_t action, int32_t matmul);

  const std::vector<Program> &programs() const { return all; }
  const std::string &path() const { return file; }

  // By a text of the actions; what lacks it is left out.  The longest comes first.
  using Key = const char *br_action_desc::*;
  static std::vector<Sums> sumsBy(const Program &program, Key key, const MachineRates &rates);

  // For people: what takes longest.
  void print(const MachineRates &rates) const;

private:
  Program &of(const br_program &program) { return all[&program - first]; }

  // Opened at the start, so that hours of work do not end without it; what is in it goes when
  // there is something to say.
  const std::string file;
  const br_program *first;
  std::vector<Program> all;
};

} // namespace braid
#endif // BRAID_CORE_PROFILE_H
