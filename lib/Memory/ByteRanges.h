//===- ByteRanges.h - the bytes that a reference covers ---------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_BYTERANGES_H
#define BRAID_LIB_MEMORY_BYTERANGES_H

#include "dialects/Exec/Exec.h"
#include <optional>
#include <vector>

namespace braid {

/// The bytes of a reference in its buffer: runs of `run` bytes at `offset` +
/// Σ i_d step_d for all indices.
struct ByteRanges {
  struct Dim {
    int64_t count, step;
  };
  int64_t offset, run;
  llvm::SmallVector<Dim> dims;

  ByteRanges(exec::RefType type, int64_t offset);
  bool operator==(const ByteRanges &other) const;
  /// Past the last byte.
  int64_t end() const;
  /// The largest unit that all runs are made of.
  int64_t unit() const;
  /// Calls `visit(first byte)` for every run until it returns false.
  bool forEachRun(llvm::function_ref<bool(int64_t)> visit) const;
};

/// Whether the two have a byte in common.
bool overlap(const ByteRanges &a, const ByteRanges &b);

/// Numbers from 0 to `size`, a bit each.  There may be more than an llvm::BitVector counts.
class UnitSet {
public:
  bool empty() const { return words.empty(); }
  void resize(int64_t size) { words.resize((size + 63) / 64); }
  /// Those from `begin` to before `end`.
  void insert(int64_t begin, int64_t end);
  /// The first of these that is missing, or -1.
  int64_t firstMissing(int64_t begin, int64_t end) const;

private:
  std::vector<uint64_t> words;
};

/// The bytes of a buffer that have been written.
class WrittenBytes {
public:
  /// `unit` divides all runs that will be asked about.
  WrittenBytes(int64_t bytes, int64_t unit) : bytes(bytes), unit(unit) {}
  void write(const ByteRanges &ranges);
  void writeAll() { all = true; }
  /// The first byte of the ranges that was never written, or -1.
  int64_t firstUnwritten(const ByteRanges &ranges);

private:
  void mark(const ByteRanges &ranges);

  int64_t bytes, unit;
  /// Once all is written the units are not looked at any more.
  bool all = false;
  /// Most buffers are written and read in one way: until another comes, it stands for
  /// the units.
  std::optional<ByteRanges> first;
  UnitSet units;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_BYTERANGES_H
