//===- Messages.h - JSON-RPC through files ----------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_LSP_MESSAGES_H
#define BRAID_TOOLS_BRAID_LSP_MESSAGES_H

#include <cstdio>
#include <optional>
#include <string>

namespace braid {

/// A unit of input: the body of a message, or a line outside messages, such as one of the help.
struct Message {
  std::string text;
  bool isFramed;
};

/// Returns none at the end of the file, or if a message is incomplete.
std::optional<Message> readMessage(FILE *in);

void writeMessage(FILE *out, const Message &message);

} // namespace braid

#endif // BRAID_TOOLS_BRAID_LSP_MESSAGES_H
