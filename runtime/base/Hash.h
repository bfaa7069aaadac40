//===- Hash.h - hashes of text --------------------------------------------===//
#ifndef BRAID_BASE_HASH_H
#define BRAID_BASE_HASH_H

#include <cstdint>
#include <string_view>

namespace braid {

// FNV-1a of 32 bits, the same on every machine.  `hash` continues an earlier text.
inline uint32_t hashOf(std::string_view text, uint32_t hash = 2166136261u) {
  for (unsigned char c : text)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

// FNV-1a of 64 bits.
inline uint64_t longHashOf(std::string_view text, uint64_t hash = 14695981039346656037ull) {
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211ull;
  return hash;
}

} // namespace braid
#endif // BRAID_BASE_HASH_H
