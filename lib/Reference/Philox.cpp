//===- Philox.cpp - counter-based random numbers --------------------------===//

#include "lib/Reference/Philox.h"

using namespace braid::reference;

PhiloxCounter braid::reference::philox(PhiloxCounter c, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{0xD2511F53} * c[0];
    uint64_t second = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

uint32_t braid::reference::philoxWord(uint64_t element, uint32_t step, uint32_t stream, PhiloxKey key) {
  uint64_t block = element / 4;
  PhiloxCounter counter = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), step, stream};
  return philox(counter, key)[element % 4];
}

double braid::reference::uniformOf(uint32_t word) { return (word >> 8) / 16777216.0; }
