//===- CommandLine.h - what can be said to a training binary --------------===//
#ifndef BRAID_LAUNCH_COMMANDLINE_H
#define BRAID_LAUNCH_COMMANDLINE_H

#include "launch/CommandTable.h"

namespace braid {

struct CommandLine {
  const cli::Command *command = nullptr; // null: there is nothing to run
  Invocation invocation;
  // Without a command: what was asked for (the help, the version), or what is wrong.
  std::string answer, error;
};

CommandLine parseCommandLine(int argc, char **argv, const br_model &model);

} // namespace braid
#endif // BRAID_LAUNCH_COMMANDLINE_H
