//===- Checksum.cpp - checksums of data, and texts with a checksum --------===//

#include "base/Checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

using namespace braid;

Checksum::Checksum() {
  static_assert(sizeof(XXH3_state_t) <= sizeof state && alignof(XXH3_state_t) <= 64);
  XXH3_64bits_reset(new (state) XXH3_state_t);
}

void Checksum::add(const void *data, size_t bytes) {
  XXH3_64bits_update(std::launder(reinterpret_cast<XXH3_state_t *>(state)), data, bytes);
}

uint64_t Checksum::value() const {
  return XXH3_64bits_digest(std::launder(reinterpret_cast<const XXH3_state_t *>(state)));
}

uint64_t braid::checksumOf(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

void braid::putChecksum(char *digits, uint64_t sum) {
  for (size_t i = 0; i < checksumDigits; ++i)
    digits[i] = "0123456789abcdef"[sum >> (60 - 4 * i) & 15];
}

std::string braid::checksumText(uint64_t sum) {
  std::string text(checksumDigits, '0');
  putChecksum(text.data(), sum);
  return text;
}

std::optional<uint64_t> braid::parseChecksum(std::string_view digits) {
  uint64_t sum = 0;
  if (digits.size() != checksumDigits)
    return std::nullopt;
  for (char c : digits) {
    const size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos)
      return std::nullopt;
    sum = sum << 4 | digit;
  }
  return sum;
}

static uint64_t sumWithout(std::string_view text, size_t place) {
  Checksum sum;
  sum.add(text.substr(0, place));
  sum.add(std::string_view("0000000000000000", checksumDigits));
  sum.add(text.substr(place + checksumDigits));
  return sum.value();
}

void braid::seal(std::string &text, size_t place) { putChecksum(text.data() + place, sumWithout(text, place)); }

bool braid::isSealed(std::string_view text, size_t place) {
  return text.size() >= place + checksumDigits &&
         parseChecksum(text.substr(place, checksumDigits)) == sumWithout(text, place);
}
