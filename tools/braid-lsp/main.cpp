//===- main.cpp - braid-lsp: the language server of .mlir files -----------===//
//
// MLIR's server runs in its own process. This process passes messages between it and the editor (Exchange.h).
//
//===----------------------------------------------------------------------===//

#include "braid/InitAll.h"
#include "cli/StandardFiles.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "tools/braid-lsp/Exchange.h"
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

/// Returns the names of all ops that a file may contain.
static std::vector<std::string> namesOfOps(const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::vector<std::string> names;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    names.push_back(name.getStringRef().str());
  llvm::sort(names);
  return names;
}

/// Passes messages until the server ends. Returns its status.
static int exchange(const mlir::DialectRegistry &registry, pid_t server, int toServer, int fromServer) {
  std::signal(SIGPIPE, SIG_IGN); // the server may have ended
  braid::Exchange exchange(namesOfOps(registry), fdopen(toServer, "w"), fdopen(fromServer, "r"));
  std::thread fromEditor([&] { exchange.passFromEditor(); });
  exchange.passFromServer();
  int status = 0;
  if (waitpid(server, &status, 0) == server && WIFSIGNALED(status))
    fprintf(stderr, "braid-lsp: error: the server was ended by signal %d\n", WTERMSIG(status));
  fflush(stdout);
  std::quick_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1); // the editor's thread may be blocked
}

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-lsp");
  braid::describeTool("braid-lsp");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  int toServer[2], fromServer[2];
  pid_t server = -1;
  if (pipe(toServer) == 0 && pipe(fromServer) == 0)
    server = fork();
  if (server < 0) {
    perror("braid-lsp: error: cannot start the server");
    return 1;
  }
  if (server > 0) {
    close(toServer[0]);
    close(fromServer[1]);
    return exchange(registry, server, toServer[1], fromServer[0]);
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM); // a busy server would not notice that its client is gone
  dup2(toServer[0], STDIN_FILENO);
  dup2(fromServer[1], STDOUT_FILENO);
  for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
    close(end);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
