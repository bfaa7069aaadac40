//===- Stop.h - requests to stop between steps ----------------------------===//
//
// SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask the training loop to finish its step, save and end; a second
// signal ends the process at once. (mpirun and srun forward SIGUSR1 to all ranks; on Ctrl-C they kill the
// ranks.) SIGUSR2 asks the loop to save and continue. If SIGHUP is ignored, as under nohup, it stays
// ignored.
//
// Ranks receive a signal at different times, but must all act on it after the same step. So each rank adds
// a term for its signal to an input of the step, and reads the sum. A rank that cannot continue, for
// example because its log is not writable, does the same. On a device, the next step is queued before a
// step's results are read; that queued step is finished, too.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_STOP_H
#define BRAID_TRAIN_STOP_H

namespace braid {

// Catches the signals during its lifetime. All ranks of a process share the received signals.
class StopRequest {
public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest &) = delete;
  StopRequest &operator=(const StopRequest &) = delete;

  // Returns the signal that arrived, or 0. Returns each request to save once.
  static int consumeSignal();
};

// Used instead of a signal number by a rank that cannot continue.
inline constexpr int kFailure = -1;
// Whether the loop continues after the signal.
bool onlySaves(int signal);

// `stopTerm` returns the term that a rank adds for a signal (or 0 for none). `stopSignal` returns the
// signal to obey when the terms of all ranks add up to `sum`, or 0.
float stopTerm(int signal);
int stopSignal(float sum);

// Returns a name such as "Ctrl-C" or "SIGTERM".
const char *signalName(int signal);

} // namespace braid
#endif // BRAID_TRAIN_STOP_H
