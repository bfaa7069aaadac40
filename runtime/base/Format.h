//===- Format.h - numbers as text for people ------------------------------===//
#ifndef BRAID_BASE_FORMAT_H
#define BRAID_BASE_FORMAT_H

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>

namespace braid {

// Formats 1234567 as "1,234,567".
inline std::string formatCount(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

// Formats bytes as "123 B" or "1.5 MiB", with one decimal.
inline std::string formatBytes(uint64_t n) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(n);
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

// Formats a number that is not finite; the sign of nan has no meaning.
inline std::string formatNonFinite(double x) { return x != x ? "nan" : x > 0 ? "inf" : "-inf"; }

// Formats a hash as 16 hexadecimal digits.
inline std::string formatHash(uint64_t hash) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// Returns the shortest text that reads back as the same number.
template <class Number> std::string formatExact(Number x) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

} // namespace braid
#endif // BRAID_BASE_FORMAT_H
