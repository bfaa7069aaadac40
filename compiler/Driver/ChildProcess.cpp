//===- ChildProcess.cpp - programs that braidc runs -----------------------===//

#include "compiler/Driver/ChildProcess.h"
#include "compiler/Driver/OutputFile.h"
#include "llvm/Support/Signals.h"
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// Interruption
//===----------------------------------------------------------------------===//

static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};

namespace {
/// Fixed-size table of child processes or folders; safe to read in a signal handler.
template <class T> class Registry {
public:
  /// Adds `value`, or does nothing if the table is full; an interruption then leaves that value behind.
  void add(T value) {
    for (std::atomic<T> &slot : slots)
      if (T none{}; slot.compare_exchange_strong(none, value))
        return;
  }
  T remove(T value) {
    for (std::atomic<T> &slot : slots)
      if (T expected = value; slot.compare_exchange_strong(expected, T{}))
        return value;
    return T{};
  }
  template <class F> void forEach(const F &visit) {
    for (std::atomic<T> &slot : slots)
      if (T value = slot.load())
        visit(value);
  }

private:
  std::array<std::atomic<T>, 16> slots{};
};

/// Blocks all signals while the tables that their handler reads change.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
};
} // namespace

static Registry<pid_t> groups;
static Registry<char *> folders;
static struct sigaction previous[NSIG];

/// Removes a folder and its files. Safe to call in a signal handler.
static bool removeFolder(const char *path) {
  int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return true;
  alignas(dirent64) char entries[4096];
  for (ssize_t size; (size = ::getdents64(folder, entries, sizeof(entries))) > 0;)
    for (ssize_t at = 0; at < size;) {
      auto *entry = reinterpret_cast<dirent64 *>(entries + at);
      ::unlinkat(folder, entry->d_name, 0);
      at += entry->d_reclen;
    }
  ::close(folder);
  return ::rmdir(path) == 0;
}

/// Kills the running programs and removes the temporary folders. Safe to call in a signal handler.
static void cleanUp() {
  groups.forEach([](pid_t group) {
    ::kill(-group, SIGKILL);
    ::waitpid(group, nullptr, 0);
  });
  // A killed process may still finish its current system call, which may create a file.
  constexpr int kTries = 200;
  constexpr timespec kPause{0, 5'000'000};
  folders.forEach([&](const char *path) {
    for (int i = 0; i < kTries && !removeFolder(path); ++i)
      ::nanosleep(&kPause, nullptr);
  });
}

/// Cleans up, restores the previous handler and raises the signal again, so that this handler ends the process.
static void onSignal(int signal) {
  cleanUp();
  ::sigaction(signal, &previous[signal], nullptr);
  ::raise(signal);
}

static void installOnce() {
  static const bool installed = [] {
    for (int signal : kSignals) {
      struct sigaction action = {};
      action.sa_handler = onSignal;
      ::sigaction(signal, &action, &previous[signal]);
      if (previous[signal].sa_handler == SIG_IGN)
        ::sigaction(signal, &previous[signal], nullptr);
    }
    return std::at_quick_exit(cleanUp) == 0 && std::at_quick_exit(sys::RunInterruptHandlers) == 0;
  }();
  (void)installed;
}

void braid::removeOnInterrupt(const std::string &path) {
  SignalsBlocked blocked;
  installOnce();
  folders.add(::strdup(path.c_str()));
}

void braid::keepOnInterrupt(const std::string &path) {
  SignalsBlocked blocked;
  char *found = nullptr;
  folders.forEach([&](char *known) { found = path == known ? known : found; });
  if (found)
    std::free(folders.remove(found));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Returns the environment with `scratch` as the folder for temporary files (TMPDIR).
static std::vector<std::string> environmentWith(const std::string &scratch) {
  std::vector<std::string> variables{"TMPDIR=" + scratch};
  for (char **variable = environ; *variable; ++variable)
    if (!StringRef(*variable).starts_with("TMPDIR="))
      variables.push_back(*variable);
  return variables;
}

static std::vector<char *> pointersTo(const std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Expected<ChildProcess> ChildProcess::start(const std::vector<std::string> &arguments, const std::string &log,
                                           const std::string &scratch) {
  SignalsBlocked blocked;
  installOnce();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &blocked.before);
  std::vector<std::string> variables = environmentWith(scratch);
  pid_t pid = 0;
  int code = ::posix_spawn(&pid, arguments.front().c_str(), &files, &attributes, pointersTo(arguments).data(),
                           pointersTo(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0)
    return makeError("cannot run '" + arguments.front() + "': " + ::strerror(code));
  groups.add(pid);
  return ChildProcess(pid);
}

std::string ChildProcess::wait() {
  int status = 0;
  // Removes the process from the table before it is reaped, because the kernel may reuse the id of a reaped process.
  siginfo_t ended;
  while (::waitid(P_PID, pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
  groups.remove(pid);
  ::waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) ? "status " + std::to_string(WEXITSTATUS(status)) : "";
}
