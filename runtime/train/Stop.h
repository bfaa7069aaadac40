//===- Stop.h - asking a job to end between steps -------------------------===//
//
// SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask the training loop to finish its step, save and
// leave; a second one ends the process at once.  (mpirun and srun hand SIGUSR1 on
// to all ranks, where Ctrl-C makes them kill.)  SIGUSR2 asks it to save and go on.  SIGHUP
// is left alone where it is ignored, as under nohup.
//
// Ranks do not hear of it at the same time, and must all do the same after the same step:
// each adds what it has heard to an input of that step, and reads the sum.  On a device
// the next step is queued before a step's results are read: that one is finished, too.
// So does a rank that cannot go on, such as one whose log cannot be written any more.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_STOP_H
#define BRAID_TRAIN_STOP_H

namespace braid {

// Catches the signals while it lives.  Ranks of one process share what they hear.
class StopRequest {
public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest &) = delete;
  StopRequest &operator=(const StopRequest &) = delete;

  // The signal that arrived, or 0; each request to save is told once.
  static int take();
};

// In place of a signal: a rank cannot go on.
inline constexpr int kFailure = -1;
// Whether the loop goes on after it.
bool onlySaves(int signal);

// What a rank adds that has heard this signal, or none, and the signal to obey
// when ranks have added up to `sum`, or 0.
float stopTerm(int signal);
int stopSignal(float sum);

// "Ctrl-C", "SIGTERM".
const char *signalName(int signal);

} // namespace braid
#endif // BRAID_TRAIN_STOP_H
