//===- Stop.h - Ctrl-C between steps
//------------------------------------------===//
//
// SIGINT and SIGTERM ask the training loop to finish its step, save and leave.
// A second one ends the process at once.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_STOP_H
#define BRAID_CORE_STOP_H

#include <csignal>

namespace braid {

// Catches the signals while it lives.
class StopRequest {
public:
  StopRequest();
  ~StopRequest();

  // The signal that arrived, or 0.
  int signal() const { return received; }

private:
  static void handle(int number) { received = number; }

  static inline volatile std::sig_atomic_t received = 0;
  struct sigaction oldInterrupt, oldTerminate;
};

} // namespace braid
#endif // BRAID_CORE_STOP_H
