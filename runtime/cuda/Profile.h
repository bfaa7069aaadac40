//===- Profile.h - how long the actions of programs take ------------------===//
//
// An event on the compute stream before each action, and one behind the last: what lies
// between two of them is the action's time there.  A collective's start takes hardly
// any; its wait takes what computation does not hide.
//
// Events are read when their program runs the second time after, so that measuring does
// not hold the device up; where launching takes longer than running, the time of an
// action is that of its launch.  A program's first run is left out: libraries make
// themselves ready in it.
//
// The same actions are ranges of NVTX, for Nsight Systems.
//
// The file says which matmul an action runs, by its number among the distinct ones, and
// how long that matmul's algorithms took if a search has timed them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_PROFILE_H
#define BRAID_CUDA_PROFILE_H

#include "braid_rt.h"
#include "cuda/Check.h"
#include "cuda/Streams.h"

#include <functional>
#include <string>
#include <vector>

namespace braid {

struct MatmulTrial;

class Profile {
public:
  // `path` is where the times go; empty: to standard output.  Throws Error when that file
  // cannot be written.
  Profile(const br_model &model, cudaStream_t stream, const std::string &path);

  // Around the actions of a program.  `wait` blocks until the device has come by an
  // event.
  using Wait = std::function<void(cudaEvent_t)>;
  void enter(const br_program &program, const Wait &wait);
  void at(int32_t action, ProgramErrors &errors);
  void leave(ProgramErrors &errors);
  // The current action runs this matmul.
  void runsMatmul(int32_t matmul);

  // After the last run, with what a search of matmul algorithms has found.
  void write(const Wait &wait, const std::vector<MatmulTrial> &matmuls);

private:
  // What one run has recorded.
  struct Marks {
    std::vector<Event> events;
    std::vector<int32_t> actions; // before each event but the last
    size_t count = 0;             // of events
    int64_t run = 0;
  };
  struct Program {
    const br_program *program;
    Marks marks[2]; // of runs in turns
    int64_t started = 0, measured = 0;
    double total = 0;                 // milliseconds, of all measured runs
    std::vector<double> milliseconds; // of each action
    std::vector<int32_t> matmuls;     // likewise; -1: it runs none
  };
  void mark(int32_t action, ProgramErrors &errors);
  void collect(Program &program, Marks &marks, const Wait &wait);
  void print() const;
  void writeJson(const std::vector<MatmulTrial> &matmuls);

  cudaStream_t stream;
  // Opened at the start, so that hours of work do not end without it; what is in it goes
  // when there is something to say.
  const std::string path;
  std::vector<Program> programs;
  const br_program *first;
  Program *current = nullptr;
  bool inRange = false; // of an action, as NVTX has them
};

} // namespace braid
#endif // BRAID_CUDA_PROFILE_H
