//===- Messages.cpp - headers and bodies of JSON-RPC ----------------------===//

#include "tools/braid-lsp/Messages.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace braid;

/// Largest message that MLIR's server accepts: a graph with the escapes of its text.
static constexpr size_t kMaxBytes = size_t(1) << 30;

/// Reads a line with its line break, which an unfinished last line lacks.
static bool readLine(FILE *in, std::string &line) {
  line.clear();
  for (int next; (next = getc(in)) != EOF;) {
    line += static_cast<char>(next);
    if (next == '\n')
      break;
  }
  return !line.empty();
}

std::optional<Message> braid::readMessage(FILE *in) {
  std::string line;
  for (std::optional<size_t> length; readLine(in, line);) {
    StringRef header = StringRef(line).trim();
    if (header.empty() && length) {
      Message message{std::string(*length, '\0'), true};
      if (fread(message.text.data(), 1, *length, in) != *length)
        return std::nullopt;
      return message;
    }
    size_t bytes;
    if (header.consume_front_insensitive("Content-Length:") && !header.trim().getAsInteger(10, bytes) &&
        bytes <= kMaxBytes)
      length = bytes;
    else if (!length && !header.starts_with_insensitive("Content-"))
      return Message{line, false};
  }
  return std::nullopt;
}

void braid::writeMessage(FILE *out, const Message &message) {
  if (message.isFramed)
    fprintf(out, "Content-Length: %zu\r\n\r\n", message.text.size());
  fwrite(message.text.data(), 1, message.text.size(), out);
  fflush(out);
}
