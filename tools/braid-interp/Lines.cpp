//===- Lines.cpp - several runs of one module -----------------------------===//

#include "tools/braid-interp/Modes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid;

/// Runs a line in a child process, which inherits the parsed module.
[[noreturn]] static void runLine(const std::string &line, llvm::function_ref<int(llvm::ArrayRef<const char *>)> run) {
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(line, saver, words);
  prctl(PR_SET_PDEATHSIG, SIGKILL); // the run ends with its parent
  int status = run(words);
  llvm::outs().flush();
  std::_Exit(status);
}

int interp::runLines(const std::string &path, llvm::function_ref<int(llvm::ArrayRef<const char *>)> run) {
  std::ifstream lines(path == "-" ? "/dev/stdin" : path);
  if (!lines) {
    llvm::errs() << "braid-interp: error: cannot read '" << path << "'\n";
    return 1;
  }
  bool right = true, any = false;
  for (std::string line; std::getline(lines, line); any = true) {
    pid_t child = fork();
    if (child == 0)
      runLine(line, run);
    int state = -1;
    if (child < 0 || waitpid(child, &state, 0) != child) {
      llvm::errs() << "braid-interp: error: cannot start a process for a run\n";
      return 1;
    }
    int status = WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
    right &= status == 0;
    llvm::outs() << "ended with " << status << '\n';
    llvm::outs().flush(); // a caller may wait for the output of a line
  }
  if (!any)
    llvm::errs() << "braid-interp: error: '" << path << "' has no lines; each line is a run\n";
  return right && any ? 0 : 1;
}
