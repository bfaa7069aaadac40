//===- Stop.h - asking a job to end between steps -------------------------===//
//
// SIGINT, SIGTERM and SIGUSR1 ask the training loop to finish its step, save and
// leave; a second one ends the process at once.  (mpirun and srun hand SIGUSR1 on
// to all ranks, where Ctrl-C makes them kill.)
//
// Ranks do not hear of it at the same time, and must all leave after the same step:
// each adds what it has heard to an input of that step, and reads the sum.  On a device
// the next step is queued before a step's results are read: that one is finished, too.
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

  // The signal that arrived, or 0.
  static int signal();
};

// What a rank adds that has heard this signal, or none, and the signal to obey
// when ranks have added up to `sum`, or 0.
float stopTerm(int signal);
int stopSignal(float sum);

// "Ctrl-C", "SIGTERM".
const char *signalName(int signal);

} // namespace braid
#endif // BRAID_TRAIN_STOP_H
