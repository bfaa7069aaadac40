//===- Exchange.h - between an editor and MLIR's server ---------*- C++ -*-===//
//
// MLIR's language server does not know descriptions of ops, and does not complete partial names. The exchange passes
// messages on and handles two of them. It puts the description in front of MLIR's hover text, and answers itself which
// ops begin with the word before the cursor.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LSP_EXCHANGE_H
#define BRAID_TOOLS_BRAID_LSP_EXCHANGE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace braid {

/// A section of docs/Dialects.md, which docs/reference.py generates from the descriptions in TableGen.
struct Description {
  llvm::StringRef summary; // a line
  std::string text;        // Markdown: name, summary, description, operands and results
};

/// Descriptions by name: "tg.contract", "#tg.mask".
using Descriptions = std::map<std::string, Description, std::less<>>;

/// A unit of input: the body of a message, or a line outside messages, such as one of the help.
struct Message {
  std::string text;
  bool isFramed;
};

class Exchange {
public:
  /// `ops` are all op names in order. The server reads `toServer` and writes `fromServer`.
  Exchange(std::vector<std::string> ops, FILE *toServer, FILE *fromServer);

  /// Each function runs in its own thread and returns at the end of its input.
  void passFromEditor();
  void passFromServer();

private:
  /// Returns true if the message is answered and must not go to the server.
  bool handle(const llvm::json::Object &message);
  std::optional<llvm::json::Value> complete(const llvm::json::Object &parameters) const;
  llvm::json::Value completionOf(llvm::StringRef op, llvm::json::Object range) const;
  /// Adds the requested description to the answer of a hover, found by the request's number.
  void describe(llvm::json::Object &answer);
  void send(Message message);

  std::vector<std::string> ops;
  Descriptions descriptions;
  FILE *toServer, *fromServer;
  llvm::StringMap<std::string> documents; // by URI; used only by the thread of the editor
  std::mutex mutex;                       // guards the members below, and standard output
  llvm::StringMap<std::string> hovers;    // descriptions by the number of the request
};

} // namespace braid

#endif // BRAID_TOOLS_BRAID_LSP_EXCHANGE_H
