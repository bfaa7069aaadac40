//===- ByteRanges.h - the bytes that a reference covers ---------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_BYTERANGES_H
#define BRAID_LIB_MEMORY_BYTERANGES_H

#include "dialects/Exec/Exec.h"
#include <map>
#include <optional>

namespace braid {

/// The bytes of a reference in its buffer: runs of `run` bytes at `offset` +
/// Σ i_d step_d for all indices.
struct ByteRanges {
  struct Dim {
    int64_t count, step;
  };
  struct Periods;
  int64_t offset, run;
  llvm::SmallVector<Dim> dims;

  ByteRanges(exec::RefType type, int64_t offset);
  ByteRanges(int64_t offset, int64_t bytes) : offset(offset), run(bytes) {}
  bool operator==(const ByteRanges &other) const;
  /// Past the last byte.
  int64_t end() const;
  /// The step of the outermost dim, or 0.
  int64_t outerStep() const { return dims.empty() ? 0 : dims.front().step; }
  /// The same bytes as equal parts, each within a period of `period` bytes; none if they
  /// are not that.
  std::optional<Periods> splitAt(int64_t period) const;
  /// Calls `visit(first byte)` for every run until it returns false.
  bool forEachRun(llvm::function_ref<bool(int64_t)> visit) const;
};

/// A part in each of `count` periods from number `first` on.
struct ByteRanges::Periods {
  int64_t first, count;
  ByteRanges part; // counted from the beginning of its period
};

/// Whether the two have a byte in common.
bool overlap(const ByteRanges &a, const ByteRanges &b);

/// Disjoint intervals of bytes, those that touch joined.
class Intervals {
public:
  void insert(int64_t begin, int64_t end);
  /// The first byte of these that is missing, or -1.
  int64_t firstMissing(int64_t begin, int64_t end) const;
  bool meets(int64_t begin, int64_t end) const;

private:
  std::map<int64_t, int64_t> ends; // by their beginnings
};

/// The bytes of a buffer that have been written.
class WrittenBytes {
public:
  WrittenBytes() = default;
  /// Of a buffer of which only these ranges are written and asked about.  A dim that all of
  /// them walk alike, as the rows of a batch, is walked once, however long it is.
  explicit WrittenBytes(llvm::SmallVector<ByteRanges> used);
  void write(const ByteRanges &ranges);
  /// The first byte of the ranges that was never written, or -1.
  int64_t firstUnwritten(const ByteRanges &ranges) const;

private:
  ByteRanges inFirstPeriod(ByteRanges ranges) const;

  /// The steps of the dims that are walked once, and where their first periods begin.
  llvm::SmallVector<int64_t> periods;
  int64_t base = 0;
  Intervals written;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_BYTERANGES_H
