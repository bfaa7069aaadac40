//===- Failures.h - how a tool ends where it cannot go on -------*- C++ -*-===//
#ifndef BRAID_TOOLS_FAILURES_H
#define BRAID_TOOLS_FAILURES_H

namespace braid {

/// To be called first in main: where memory runs out, an exception reaches nobody or LLVM
/// gives up, the tool says so under its name and exits with status 1, by std::quick_exit.
/// Signals that are ignored stay so.  `tool` must stay.
void reportFailures(const char *tool);

} // namespace braid

#endif // BRAID_TOOLS_FAILURES_H
