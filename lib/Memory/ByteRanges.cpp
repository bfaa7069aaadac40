//===- ByteRanges.cpp - bytes that a reference covers ---------------------===//

#include "lib/Memory/ByteRanges.h"

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
  // Merges dims that together are one strided walk.
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

std::optional<ByteRanges::Periods> ByteRanges::splitAt(int64_t period) const {
  Periods periods{offset / period, 1, *this};
  ByteRanges &part = periods.part;
  part.offset = offset % period;
  if (dims.empty() && run > period && run % period == 0) {
    periods.count = run / period;
    part.run = period;
  } else if (outerStep() == period) {
    periods.count = dims.front().count;
    part.dims.erase(part.dims.begin());
  } else if (!dims.empty() && period % outerStep() == 0) { // one walk of rows through several periods
    int64_t rows = period / outerStep();
    if (dims.front().count > rows && dims.front().count % rows == 0) {
      periods.count = dims.front().count / rows;
      part.dims.front().count = rows;
    }
  }
  return part.end() <= period ? std::optional(periods) : std::nullopt;
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
  int64_t period = std::max(a.outerStep(), b.outerStep());
  auto inA = a.splitAt(period), inB = b.splitAt(period);
  if (inA && inB)
    return inA->first < inB->first + inB->count && inB->first < inA->first + inA->count &&
           overlap(inA->part, inB->part);
  Intervals bytes;
  a.forEachRun([&](int64_t at) { return bytes.insert(at, at + a.run), true; });
  return !b.forEachRun([&](int64_t at) { return !bytes.overlaps(at, at + b.run); });
}

//===----------------------------------------------------------------------===//
// Written bytes
//===----------------------------------------------------------------------===//

void Intervals::insert(int64_t begin, int64_t end) {
  auto next = ends.upper_bound(begin);
  if (next != ends.begin() && std::prev(next)->second >= begin) {
    begin = std::prev(next)->first;
    end = std::max(end, std::prev(next)->second);
  }
  while (next != ends.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends.erase(next);
  }
  ends[begin] = end;
}

bool Intervals::overlaps(int64_t begin, int64_t end) const {
  auto next = ends.lower_bound(end);
  return next != ends.begin() && std::prev(next)->second > begin;
}

WrittenBytes::WrittenBytes(llvm::SmallVector<ByteRanges> used) {
  while (true) {
    int64_t period = 0;
    for (const ByteRanges &ranges : used)
      period = std::max(period, ranges.outerStep());
    if (period == 0)
      return;
    llvm::SmallVector<ByteRanges> parts;
    std::optional<ByteRanges::Periods> first;
    for (const ByteRanges &ranges : used) {
      auto split = ranges.splitAt(period);
      if (!first)
        first = split;
      if (!split || split->first != first->first || split->count != first->count)
        return;
      parts.push_back(split->part);
    }
    periods.push_back(period);
    base += first->first * period;
    used = std::move(parts);
  }
}

ByteRanges WrittenBytes::inFirstPeriod(ByteRanges ranges) const {
  for (int64_t period : periods)
    ranges = ranges.splitAt(period)->part;
  return ranges;
}

WrittenBytes::Writes::iterator WrittenBytes::cut(int64_t at) {
  auto next = written.lower_bound(at);
  if (next == written.begin() || std::prev(next)->second.end <= at)
    return next;
  Write &head = std::prev(next)->second;
  Write tail = head;
  head.end = at;
  return written.emplace_hint(next, at, tail);
}

void WrittenBytes::join(int64_t begin, int64_t end) {
  auto next = written.lower_bound(begin);
  if (next != written.begin())
    --next;
  while (next != written.end() && std::next(next) != written.end() && next->first < end) {
    auto &[at, write] = *next;
    auto following = std::next(next);
    if (write.end == following->first && write.writer == following->second.writer &&
        write.isRead == following->second.isRead) {
      write.end = following->second.end;
      written.erase(following);
    } else {
      next = following;
    }
  }
}

void WrittenBytes::write(const ByteRanges &ranges, int64_t writer) {
  ByteRanges part = inFirstPeriod(ranges);
  part.forEachRun([&](int64_t at) {
    cut(at);
    auto last = cut(at + part.run);
    written.erase(written.lower_bound(at), last);
    written[at] = {at + part.run, writer, false};
    join(at, at + part.run);
    return true;
  });
}

void WrittenBytes::read(const ByteRanges &ranges) {
  ByteRanges part = inFirstPeriod(ranges);
  part.forEachRun([&](int64_t at) {
    auto isUnread = [](const Piece &piece) { return !piece.isRead; };
    if (!findIn(at, at + part.run, isUnread))
      return true;
    cut(at);
    auto last = cut(at + part.run);
    for (auto write = written.lower_bound(at); write != last; ++write)
      write->second.isRead = true;
    join(at, at + part.run);
    return true;
  });
}

std::optional<WrittenBytes::Piece> WrittenBytes::findIn(int64_t begin, int64_t end,
                                                        llvm::function_ref<bool(const Piece &)> matches) const {
  auto next = written.upper_bound(begin);
  if (next != written.begin())
    --next;
  for (; next != written.end() && next->first < end; ++next) {
    const auto &[at, write] = *next;
    Piece piece{std::max(begin, at), std::min(end, write.end), write.writer, write.isRead};
    if (piece.begin < piece.end && matches(piece))
      return piece;
  }
  return std::nullopt;
}

std::optional<WrittenBytes::Piece> WrittenBytes::find(const ByteRanges &ranges,
                                                      llvm::function_ref<bool(const Piece &)> matches) const {
  ByteRanges part = inFirstPeriod(ranges);
  std::optional<Piece> found;
  part.forEachRun([&](int64_t at) { return !(found = findIn(at, at + part.run, matches)); });
  if (found) {
    found->begin += base;
    found->end += base;
  }
  return found;
}

int64_t WrittenBytes::firstUnwritten(const ByteRanges &ranges) const {
  ByteRanges part = inFirstPeriod(ranges);
  int64_t found = -1;
  part.forEachRun([&](int64_t at) {
    int64_t next = at, end = at + part.run;
    findIn(at, end, [&](const Piece &piece) {
      if (piece.begin > next)
        return true; // a gap
      next = piece.end;
      return false;
    });
    found = next < end ? next : -1;
    return found < 0;
  });
  return found < 0 ? -1 : base + found;
}
