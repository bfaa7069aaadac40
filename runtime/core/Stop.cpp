//===- Stop.cpp - Ctrl-C between steps
//----------------------------------------===//

#include "core/Stop.h"

using namespace braid;

StopRequest::StopRequest() {
  received = 0;
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGTERM, &action, &oldTerminate);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
}
