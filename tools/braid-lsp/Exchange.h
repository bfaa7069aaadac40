//===- Exchange.h - between an editor and MLIR's server ---------*- C++ -*-===//
//
// MLIR's language server knows no descriptions of ops, and completes no name of which a part is written.  The exchange
// passes messages on, and has an eye on two: it puts the description in front of what MLIR says under the pointer, and
// answers by itself which ops begin with the word before the cursor.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LSP_EXCHANGE_H
#define BRAID_TOOLS_BRAID_LSP_EXCHANGE_H

#include "tools/braid-lsp/Descriptions.h"
#include "tools/braid-lsp/Messages.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <mutex>
#include <vector>

namespace braid {

class Exchange {
public:
  /// `ops`: every name, in order.  The server reads `toServer` and writes `fromServer`.
  Exchange(std::vector<std::string> ops, FILE *toServer, FILE *fromServer);

  /// Each returns at the end of what it reads.  They run in threads of their own.
  void passFromEditor();
  void passFromServer();

private:
  /// Returns true if the message is answered and not for the server.
  bool handle(const llvm::json::Object &message);
  std::optional<llvm::json::Value> complete(const llvm::json::Object &parameters) const;
  llvm::json::Value completionOf(llvm::StringRef op, llvm::json::Object range) const;
  /// Adds the description that was asked for by the hover with this answer's number.
  void describe(llvm::json::Object &answer);
  void send(Message message);

  std::vector<std::string> ops;
  Descriptions descriptions = readDescriptions();
  FILE *toServer, *fromServer;
  llvm::StringMap<std::string> documents; // by URI; of the thread of the editor
  std::mutex mutex;                       // guards what follows, and standard output
  llvm::StringMap<std::string> hovers;    // descriptions by the number of the request
};

} // namespace braid

#endif // BRAID_TOOLS_BRAID_LSP_EXCHANGE_H
