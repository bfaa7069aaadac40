//===- Checksum.h - checksums of data, and texts with a checksum ----------===//
//
// 64-bit XXH3.  It finds accidental damage, but does not protect against an attacker.  Files store
// a checksum as 16 digits, so that its place is known before its value.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_CHECKSUM_H
#define BRAID_BASE_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid {

// Checksum of data that comes piece by piece.
class Checksum {
public:
  Checksum();
  void add(const void *data, size_t bytes);
  void add(std::string_view text) { add(text.data(), text.size()); }
  uint64_t value() const;

private:
  alignas(64) std::byte state[640]; // XXH3_state_t
};

uint64_t checksumOf(const void *data, size_t bytes);

constexpr size_t checksumDigits = 16;
void putChecksum(char *digits, uint64_t sum);
std::string checksumText(uint64_t sum);
// Returns nullopt unless `digits` are 16 hexadecimal digits.
std::optional<uint64_t> parseChecksum(std::string_view digits);

// seal writes a text's checksum into the text at `place`, and counts these digits as zeros;
// isSealed checks it.
void seal(std::string &text, size_t place);
bool isSealed(std::string_view text, size_t place);

} // namespace braid
#endif // BRAID_BASE_CHECKSUM_H
