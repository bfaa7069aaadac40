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
  bool meets(int64_t begin, int64_t end) const;

private:
  std::map<int64_t, int64_t> ends; // by their beginnings
};

/// The bytes of a buffer that have been written, by whom, and whether anybody has read them since.
class WrittenBytes {
public:
  /// Writer of what is there before the first action.
  static constexpr int64_t kGiven = -1;
  /// Bytes that one writer wrote, and that were all read or all not.
  struct Piece {
    int64_t begin, end, writer;
    bool isRead;
  };

  WrittenBytes() = default;
  /// Of a buffer of which only these ranges are written, read and asked about.  A dim that all of
  /// them walk alike, as the rows of a batch, is walked once, however long it is.
  explicit WrittenBytes(llvm::SmallVector<ByteRanges> used);
  void write(const ByteRanges &ranges, int64_t writer = kGiven);
  void read(const ByteRanges &ranges);
  /// The first byte of the ranges that was never written, or -1.
  int64_t firstUnwritten(const ByteRanges &ranges) const;
  /// The first piece within the ranges for which `is` holds.
  std::optional<Piece> find(const ByteRanges &ranges, llvm::function_ref<bool(const Piece &)> is) const;

private:
  struct Write {
    int64_t end, writer;
    bool isRead;
  };
  using Writes = std::map<int64_t, Write>; // by their beginnings
  ByteRanges inFirstPeriod(ByteRanges ranges) const;
  std::optional<Piece> findIn(int64_t begin, int64_t end, llvm::function_ref<bool(const Piece &)> is) const;
  /// The first write at or behind a byte, after cutting the one that holds it.
  Writes::iterator cut(int64_t at);
  /// Joins writes that touch and are alike, where one of these begins and ends.
  void join(int64_t begin, int64_t end);

  /// The steps of the dims that are walked once, and where their first periods begin.
  llvm::SmallVector<int64_t> periods;
  int64_t base = 0;
  Writes written;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_BYTERANGES_H
