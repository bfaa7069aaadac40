//===- Random.h - choices that a seed repeats -------------------*- C++ -*-===//
#ifndef BRAID_FUZZ_RANDOM_H
#define BRAID_FUZZ_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace braid::fuzz {

/// SplitMix64 (Steele, Lea and Flood 2014): the same on every machine, as the standard
/// library's distributions are not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Returns a number from 0 to `count` - 1; 0 if `count` is 0.
  size_t below(size_t count) { return count ? next() % count : 0; }
  bool oneIn(size_t count) { return below(count) == 0; }
  /// Returns a number from 1 on; each number is half as likely as the previous one.
  size_t few() {
    size_t count = 1;
    while (count < 16 && oneIn(2))
      ++count;
    return count;
  }
  /// Returns an element of a nonempty range.
  template <class Range> const auto &pick(const Range &range) { return *(std::begin(range) + below(std::size(range))); }
  template <class T> T pick(std::initializer_list<T> list) { return list.begin()[below(list.size())]; }

private:
  uint64_t state;
};

} // namespace braid::fuzz

#endif // BRAID_FUZZ_RANDOM_H
