//===- RunCase.cpp - one input, in a process of its own -------------------===//

#include "fuzz/Fuzzer.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::fuzz;
namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)
static constexpr bool kHasSanitizer = true;
#else
static constexpr bool kHasSanitizer = false;
#endif

namespace {

/// A folder for the program, with its output beside it.
class Scratch {
public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "braid-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data()))
      std::abort();
    place = name;
    fs::create_directory(folder());
  }
  ~Scratch() { fs::remove_all(place); }
  Scratch(const Scratch &) = delete;

  std::string folder() const { return place + "/folder"; }
  std::string messages() const { return place + "/messages"; }

private:
  std::string place;
};

} // namespace

/// At the soft limit a signal identifies the limit; the program may print its stack until `end`.
static void limitTo(rlim_t most, decltype(RLIMIT_AS) what, rlim_t end) {
  rlimit limit = {most, end};
  setrlimit(what, &limit);
}

/// In the child.
[[noreturn]] static void run(int (*program)(int, char **), const Texts &words, const Scratch &scratch,
                             const Limits &limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int nothing = open("/dev/null", O_RDWR),
      messages = open(scratch.messages().c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  if (chdir(scratch.folder().c_str()) != 0)
    std::abort();
  limitTo(0, RLIMIT_CORE, 0);
  limitTo(rlim_t{1} << 28, RLIMIT_FSIZE, rlim_t{1} << 29);
  if (!kHasSanitizer)
    limitTo(limits.memory, RLIMIT_AS, limits.memory);
  setenv("TMPDIR", scratch.folder().c_str(), 1); // what stays there is seen
  setenv("PATH", "/nowhere", 1);                 // no compiler is called
  Texts own = words;
  std::vector<char *> argv;
  for (std::string &word : own)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  limitTo(limits.seconds, RLIMIT_CPU, 2 * limits.seconds);
  alarm(8 * limits.seconds); // it may wait for something, or for a processor
  std::exit(program(static_cast<int>(own.size()), argv.data()));
}

/// Returns the new files.
static Texts newFiles(const Scratch &scratch, const Target &target, const Case &input) {
  Texts found;
  for (const auto &entry : fs::recursive_directory_iterator(scratch.folder())) {
    std::string path = fs::relative(entry.path(), scratch.folder()).string();
    if (!entry.is_directory() && !input.files.count(path) && !target.mayStay(path))
      found.push_back(path);
  }
  return found;
}

static std::string judge(int status, const std::string &said, const Target &target) {
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
    return target.mayTakeLong ? "" : "takes too long";
  if (WIFSIGNALED(status))
    return std::string("ends by signal: ").append(strsignal(WTERMSIG(status)));
  // The sanitizer's allocator ends a program without calling its handlers.
  if (said.find("AddressSanitizer: allocator is out of memory") != said.npos)
    return "";
  for (const char *report : {"AddressSanitizer", "runtime error:", "UndefinedBehavior"})
    if (said.find(report) != said.npos)
      return "a sanitizer reports";
  if (int code = WEXITSTATUS(status); code > 2)
    return "exit status " + std::to_string(code);
  else if (code && said.find_first_not_of(" \n") == said.npos)
    return "fails without a message";
  return "";
}

/// The status of the process.
static int runIn(const Scratch &scratch, int (*program)(int, char **), const Case &input, const Limits &limits) {
  writeFiles(scratch.folder(), input.files);
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0)
    run(program, input.words, scratch, limits);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Files braid::fuzz::outputsOf(int (*program)(int, char **), const Case &input) {
  Scratch scratch;
  if (runIn(scratch, program, input, {}) != 0) {
    std::fprintf(stderr, "%s\n", readFile(scratch.messages()).c_str());
    std::abort(); // a fuzzer has nothing to start from
  }
  return readFiles(scratch.folder());
}

Outcome braid::fuzz::runCase(const Target &target, const Case &input, const Limits &limits) {
  Scratch scratch;
  int status = runIn(scratch, target.program, input, limits);
  Outcome outcome;
  outcome.said = readFile(scratch.messages());
  outcome.problem = judge(status, outcome.said, target);
  outcome.isRefused = WIFEXITED(status) && WEXITSTATUS(status) != 0;
  if (outcome.problem.empty() && outcome.isRefused)
    if (Texts left = newFiles(scratch, target, input); !left.empty())
      outcome.problem.append("leaves '").append(left.front()).append("'");
  return outcome;
}
