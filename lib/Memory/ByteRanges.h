//===- ByteRanges.h - bytes that a reference covers -------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_BYTERANGES_H
#define BRAID_LIB_MEMORY_BYTERANGES_H

#include "dialects/Exec/Exec.h"
#include <map>
#include <optional>

namespace braid {

/// Bytes of a reference in its buffer: runs of `run` bytes at `offset` + Σ i_d step_d for all indices.
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
  /// Returns the end of the last byte.
  int64_t end() const;
  /// Returns the step of the outermost dim, or 0.
  int64_t outerStep() const { return dims.empty() ? 0 : dims.front().step; }
  /// Splits the bytes into equal parts, each within a period of `period` bytes; no value if that is impossible.
  std::optional<Periods> splitAt(int64_t period) const;
  /// Calls `visit(first byte)` for every run until it returns false.
  bool forEachRun(llvm::function_ref<bool(int64_t)> visit) const;
};

/// A part in each of `count` periods from number `first` on.
struct ByteRanges::Periods {
  int64_t first, count;
  ByteRanges part; // relative to the beginning of its period
};

/// Returns whether the two have a byte in common.
bool overlap(const ByteRanges &a, const ByteRanges &b);

/// Disjoint intervals of bytes; adjacent ones are joined.
class Intervals {
public:
  void insert(int64_t begin, int64_t end);
  bool overlaps(int64_t begin, int64_t end) const;

private:
  std::map<int64_t, int64_t> ends; // by their beginnings
};

/// The written bytes of a buffer, their writers, and whether they have been read since.
class WrittenBytes {
public:
  /// Writer of the bytes that exist before the first action.
  static constexpr int64_t kInitialWriter = -1;
  /// Bytes with one writer that were all read or all not.
  struct Piece {
    int64_t begin, end, writer;
    bool isRead;
  };

  WrittenBytes() = default;
  /// Tracks a buffer of which only these ranges are used. A dim that all ranges walk alike, such
  /// as the rows of a batch, is walked once, whatever its size.
  explicit WrittenBytes(llvm::SmallVector<ByteRanges> used);
  void write(const ByteRanges &ranges, int64_t writer = kInitialWriter);
  void read(const ByteRanges &ranges);
  /// Returns the first byte of the ranges that was never written, or -1.
  int64_t firstUnwritten(const ByteRanges &ranges) const;
  /// Returns the first piece within the ranges for which `matches` holds.
  std::optional<Piece> find(const ByteRanges &ranges, llvm::function_ref<bool(const Piece &)> matches) const;

private:
  struct Write {
    int64_t end, writer;
    bool isRead;
  };
  using Writes = std::map<int64_t, Write>; // by their beginnings
  ByteRanges inFirstPeriod(ByteRanges ranges) const;
  std::optional<Piece> findIn(int64_t begin, int64_t end, llvm::function_ref<bool(const Piece &)> matches) const;
  /// Returns the first write at or after a byte, after splitting the write that contains this byte.
  Writes::iterator cut(int64_t at);
  /// Joins adjacent writes that are alike, at the beginning and at the end of the range.
  void join(int64_t begin, int64_t end);

  /// Steps of the dims that are walked once, and the beginnings of their first periods.
  llvm::SmallVector<int64_t> periods;
  int64_t base = 0;
  Writes written;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_BYTERANGES_H
