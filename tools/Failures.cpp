//===- Failures.cpp - fatal errors of a tool ------------------------------===//
//
// The only file of the compiler that is compiled with exceptions (tools/CMakeLists.txt), so that the messages of
// library exceptions can be printed.
//
//===----------------------------------------------------------------------===//

#include "tools/Failures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

static const char *toolName = "";

/// Prints the message and exits. Allocates no memory, because there may be none left.
[[noreturn]] static void end(const char *message) {
  for (const char *text : {toolName, ": error: ", message, "\n"})
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
      break;
  std::quick_exit(1);
}

[[noreturn]] static void endForMemory() {
  end("out of memory: raise the limit of this process (ulimit -v, or its control group), free memory of this machine, "
      "or give a smaller input, such as a graph with fewer layers");
}

static void onTerminate() {
  std::exception_ptr current = std::current_exception();
  if (!current)
    end("terminated");
  try {
    std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    endForMemory();
  } catch (const std::exception &error) {
    end(error.what());
  } catch (...) {
    end("an unknown exception");
  }
}

/// Keeps ignored signals ignored, as with nohup, because LLVM would replace their handlers.
static void keepIgnoredSignals() {
  constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
  struct sigaction before[std::size(kSignals)];
  for (auto [signal, action] : llvm::zip_equal(kSignals, before))
    ::sigaction(signal, nullptr, &action);
  llvm::sys::SetInterruptFunction(nullptr); // replaces the handlers, now and only once
  for (auto [signal, action] : llvm::zip_equal(kSignals, before))
    if (action.sa_handler == SIG_IGN)
      ::sigaction(signal, &action, nullptr);
}

void braid::reportFailures(const char *tool) {
  toolName = tool;
  keepIgnoredSignals();
  std::set_terminate(onTerminate);
  std::set_new_handler(endForMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endForMemory(); });
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) { end(reason); });
  llvm::setBugReportMsg("This is an error in Braid. Please report it with the command line and the input.\n");
}
