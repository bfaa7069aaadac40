//===- GlooTransport.h - processes that reach each other over TCP ---------===//
#ifndef BRAID_COMM_GLOO_GLOOTRANSPORT_H
#define BRAID_COMM_GLOO_GLOOTRANSPORT_H

#include "comm/Transport.h"

#include <string>

namespace braid {

struct GlooOptions {
  int rank = 0, size = 1;
  std::string folder;   // where ranks leave their addresses: shared by all, new for each job
  std::string hostName; // of this rank's network interface; empty: what this host is called
  double timeout = 30;  // seconds, to find each other
};

TransportFactory glooTransport(GlooOptions options);

} // namespace braid
#endif // BRAID_COMM_GLOO_GLOOTRANSPORT_H
