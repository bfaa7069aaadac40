//===- Message.h - text for people ----------------------------------------===//
#ifndef BRAID_BASE_MESSAGE_H
#define BRAID_BASE_MESSAGE_H

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace braid {

// Escapes control characters except line feeds and tabs as \xNN: otherwise names from files could
// control the terminal.
inline std::string printable(std::string_view text) {
  std::string out;
  const auto escape = [&](unsigned char byte) {
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02X", byte);
    out += code;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char byte = text[i], next = i + 1 < text.size() ? text[i + 1] : 0;
    const bool isControl = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool isLongControl = byte == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080 to U+009F in UTF-8
    if (isControl || isLongControl)
      escape(byte);
    else
      out += text[i];
    if (isLongControl)
      escape(text[++i]);
  }
  return out;
}

// Takes each message of this program; prints it, unless the program is part of another one (library/Handle.h).
inline std::function<void(const std::string &text)> messageSink = [](const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
};

inline void notice(std::string_view text) { messageSink(printable(text)); }
inline void warn(std::string_view text) { messageSink("warning: " + printable(text)); }

} // namespace braid
#endif // BRAID_BASE_MESSAGE_H
