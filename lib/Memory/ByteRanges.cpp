//===- ByteRanges.cpp - the bytes that a reference covers -----------------===//

#include "lib/Memory/ByteRanges.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace braid;

ByteRanges::ByteRanges(exec::RefType type, int64_t offset) : offset(offset) {
  int64_t element = elementBytes(type.getElementType());
  run = element;
  for (auto [size, stride] : llvm::zip(type.getShape(), type.getStrides()))
    if (size != 1 && stride != 0)
      dims.push_back({size, stride * element});
  llvm::stable_sort(dims, [](const Dim &a, const Dim &b) { return a.step > b.step; });
  while (!dims.empty() && dims.back().step == run) {
    run *= dims.back().count;
    dims.pop_back();
  }
  // Rows of several dims that walk as one.
  llvm::SmallVector<Dim> joined;
  for (Dim dim : dims) {
    if (!joined.empty() && joined.back().step == dim.count * dim.step)
      joined.back() = {joined.back().count * dim.count, dim.step};
    else
      joined.push_back(dim);
  }
  dims = std::move(joined);
}

int64_t ByteRanges::end() const {
  int64_t last = offset;
  for (const Dim &dim : dims)
    last += (dim.count - 1) * dim.step;
  return last + run;
}

int64_t ByteRanges::unit() const {
  int64_t unit = std::gcd(offset, run);
  for (const Dim &dim : dims)
    unit = std::gcd(unit, dim.step);
  return unit;
}

bool ByteRanges::forEachRun(llvm::function_ref<bool(int64_t)> visit) const {
  llvm::SmallVector<int64_t> index(dims.size(), 0);
  int64_t at = offset;
  while (true) {
    if (!visit(at))
      return false;
    size_t dim = dims.size();
    for (; dim > 0; --dim) {
      at += dims[dim - 1].step;
      if (++index[dim - 1] < dims[dim - 1].count)
        break;
      at -= dims[dim - 1].count * dims[dim - 1].step;
      index[dim - 1] = 0;
    }
    if (dim == 0)
      return true;
  }
}

bool ByteRanges::operator==(const ByteRanges &other) const {
  return offset == other.offset && run == other.run &&
         llvm::equal(dims, other.dims, [](Dim a, Dim b) { return a.count == b.count && a.step == b.step; });
}

bool braid::overlap(const ByteRanges &a, const ByteRanges &b) {
  if (a.end() <= b.offset || b.end() <= a.offset)
    return false;
  if ((a.dims.empty() && b.dims.empty()) || a == b)
    return true;
  // Counted from the first byte of both: an arena is large.
  if (int64_t base = std::min(a.offset, b.offset)) {
    ByteRanges nearA = a, nearB = b;
    nearA.offset -= base;
    nearB.offset -= base;
    return overlap(nearA, nearB);
  }
  int64_t bytes = std::max(a.end(), b.end());
  WrittenBytes written(bytes, std::gcd(a.unit(), b.unit()));
  written.write(a);
  // The part of b that a did not write is all of it when they are disjoint.
  bool common = false;
  b.forEachRun([&](int64_t at) {
    for (int64_t byte = at; byte < at + b.run && !common; byte += std::gcd(a.unit(), b.unit())) {
      ByteRanges piece = b;
      piece.dims.clear();
      piece.offset = byte;
      piece.run = std::gcd(a.unit(), b.unit());
      common = written.firstUnwritten(piece) < 0;
    }
    return !common;
  });
  return common;
}

//===----------------------------------------------------------------------===//
// What has been written
//===----------------------------------------------------------------------===//

/// Visits the words of numbers from `begin` to before `end`, each with the bits of these in
/// it, until `visit` returns false.
template <class F> static void forEachWord(int64_t begin, int64_t end, const F &visit) {
  while (begin < end) {
    int64_t word = begin / 64, next = std::min(end, (word + 1) * 64);
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(next - begin) << (begin % 64);
    if (!visit(word, mask))
      return;
    begin = next;
  }
}

void UnitSet::insert(int64_t begin, int64_t end) {
  forEachWord(begin, end, [&](int64_t word, uint64_t mask) {
    words[word] |= mask;
    return true;
  });
}

int64_t UnitSet::firstMissing(int64_t begin, int64_t end) const {
  int64_t found = -1;
  forEachWord(begin, end, [&](int64_t word, uint64_t mask) {
    if (uint64_t missing = mask & ~words[word])
      found = word * 64 + llvm::countr_zero(missing);
    return found < 0;
  });
  return found;
}

void WrittenBytes::write(const ByteRanges &ranges) {
  if (all)
    return;
  if (ranges.dims.empty() && ranges.offset == 0 && ranges.run == bytes) {
    all = true;
    return;
  }
  if (units.empty() && (!first || *first == ranges)) {
    first = ranges;
    return;
  }
  mark(ranges);
}

/// Enters `ranges`, and what was written before, into the units.
void WrittenBytes::mark(const ByteRanges &ranges) {
  if (units.empty()) {
    units.resize(bytes / unit);
    if (first && !(*first == ranges))
      mark(*first);
  }
  ranges.forEachRun([&](int64_t at) {
    units.insert(at / unit, (at + ranges.run) / unit);
    return true;
  });
}

int64_t WrittenBytes::firstUnwritten(const ByteRanges &ranges) {
  if (all || (first && *first == ranges))
    return -1;
  if (!first)
    return ranges.offset;
  if (units.empty())
    mark(*first);
  int64_t found = -1;
  ranges.forEachRun([&](int64_t at) {
    int64_t missing = units.firstMissing(at / unit, (at + ranges.run) / unit);
    found = missing < 0 ? -1 : missing * unit;
    return found < 0;
  });
  return found;
}
