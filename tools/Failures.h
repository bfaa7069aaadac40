//===- Failures.h - fatal errors of a tool ----------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_FAILURES_H
#define BRAID_TOOLS_FAILURES_H

namespace braid {

/// Installs handlers for fatal errors; must be called first in main. When memory runs out, an exception is not caught,
/// or LLVM aborts, the tool prints a message with its name and exits with status 1, by std::quick_exit. Ignored signals
/// stay ignored. `tool` must stay valid until the process ends.
void reportFailures(const char *tool);

} // namespace braid

#endif // BRAID_TOOLS_FAILURES_H
