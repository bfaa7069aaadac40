//===- Profile.h - times of the actions of programs -----------------------===//
//
// The mean and the shortest time of each action over the runs of its program, beside its lower
// bound on the machine (MachineRates); and sums over the actions with the same kernel, op, unit
// or phase.  The times are by the target's clock.
//
// A program's first run is dropped if there are others: libraries initialize in it.  The start of a
// collective takes hardly any time; its wait takes the time that computation does not hide.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_PROFILE_H
#define BRAID_CORE_PROFILE_H

#include "braid_rt.h"
#include "core/TimedAction.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace braid {

// Rates of a rank that only multiplies large matrices, or only copies large memory, while the other
// ranks do the same.
struct MachineRates {
  // FLOPs per second of GEMMs in f32 and in bf16, and bytes per second read and written; 0 if
  // unknown.
  double matrixFlops = 0, halfMatrixFlops = 0, bytesPerSecond = 0;

  // Lower bound of an action's seconds: the time of its matrix products or of its bytes, whichever
  // is longer.  0 if it does neither, or if a rate is unknown.
  double limitOf(const br_action_desc &action) const {
    const double flops = action.type == BR_BF16 ? halfMatrixFlops : matrixFlops;
    const double computing = flops > 0 ? action.matrix_flops / flops : 0;
    const double moving = bytesPerSecond > 0 ? static_cast<double>(action.bytes) / bytesPerSecond : 0;
    return action.matrix_flops > 0 && flops == 0 ? 0 : std::max(computing, moving);
  }
};

class Profile {
public:
  struct Program {
    const br_program *program;
    int64_t runs = 0;      // counted runs
    bool hasWarmUp = true; // whether the only counted run is the first
    // By action: sum over all counted runs, and the shortest of them.
    std::vector<double> seconds, fastest;
    std::vector<int32_t> matmuls; // number of the action's matmul in a search; -1: none

    double total() const;
  };

  // Sums over the actions of a run with the same `name`.
  struct Sums {
    std::string name;
    int64_t actions = 0;
    double seconds = 0, fastest = 0, flops = 0, bytes = 0, limit = 0;
  };

  // `path` is the output file; empty means standard output.  Throws Error if the file cannot be
  // written.
  Profile(const br_model &model, const std::string &path);

  // Adds a run of a program, with its actions in order.
  void add(const br_program &program, std::span<const TimedAction> actions);
  void runsMatmul(const br_program &program, int32_t action, int32_t matmul);

  const std::vector<Program> &programs() const { return all; }
  const std::string &path() const { return file; }

  // Returns sums by a text of the actions, the longest time first; leaves out actions without that
  // text.
  using Key = const char *br_action_desc::*;
  static std::vector<Sums> sumsBy(const Program &program, Key key, const MachineRates &rates);

  // Prints the longest actions and sums, for people.
  void print(const MachineRates &rates) const;

private:
  Program &of(const br_program &program) { return all[&program - first]; }

  // Opened at the start, so that hours of work do not fail at the end; its content is replaced only
  // when there are times to write.
  const std::string file;
  const br_program *first;
  std::vector<Program> all;
};

} // namespace braid
#endif // BRAID_CORE_PROFILE_H
