//===- Placement.cpp - checks and bounds of a placement -------------------===//

#include "lib/Memory/Placement.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace braid;
using pipeline::failure;

llvm::Error braid::check(const PlacementProblem &problem) {
  if (problem.alignment <= 0)
    return failure("alignment {0} is not positive", problem.alignment);
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    if (buffer.bytes < 0)
      return failure("buffer {0} has {1} bytes", index, buffer.bytes);
    if (buffer.first > buffer.last)
      return failure("buffer {0} lives from {1} to {2}", index, buffer.first, buffer.last);
    if (buffer.fixed && (*buffer.fixed < 0 || *buffer.fixed % problem.alignment != 0))
      return failure("buffer {0} is fixed at {1}, no multiple of {2}", index, *buffer.fixed, problem.alignment);
  }
  return llvm::Error::success();
}

LiveBound braid::liveBound(const PlacementProblem &problem) {
  std::map<int64_t, int64_t> change;
  LiveBound bound;
  int64_t fixedEnd = 0;
  for (const PlacementBuffer &buffer : problem.buffers) {
    int64_t bytes = problem.padded(buffer.bytes);
    change[buffer.first] += bytes;
    change[buffer.last + 1] -= bytes;
    if (buffer.fixed)
      fixedEnd = std::max(fixedEnd, *buffer.fixed + bytes);
  }
  int64_t live = 0;
  for (auto [time, bytes] : change) {
    live += bytes;
    if (live > bound.bytes)
      bound = {live, time};
  }
  bound.bytes = std::max(bound.bytes, fixedEnd);
  return bound;
}

llvm::Error braid::verify(const PlacementProblem &problem, const Placement &placement) {
  size_t count = problem.buffers.size();
  if (placement.offsets.size() != count)
    return failure("{0} offsets for {1} buffers", placement.offsets.size(), count);
  std::vector<size_t> byFirst, byLast;
  for (size_t i = 0; i < count; ++i) {
    const PlacementBuffer &buffer = problem.buffers[i];
    int64_t offset = placement.offsets[i];
    if (offset < 0 || offset % problem.alignment != 0)
      return failure("buffer {0} is at {1}, no multiple of {2}", i, offset, problem.alignment);
    if (buffer.fixed && offset != *buffer.fixed)
      return failure("buffer {0} is at {1} but fixed at {2}", i, offset, *buffer.fixed);
    if (offset + buffer.bytes > placement.bytes)
      return failure("buffer {0} ends at {1}, past the end {2}", i, offset + buffer.bytes, placement.bytes);
    if (buffer.bytes == 0)
      continue;
    byFirst.push_back(i);
    byLast.push_back(i);
  }
  llvm::stable_sort(byFirst, [&](size_t a, size_t b) { return problem.buffers[a].first < problem.buffers[b].first; });
  llvm::stable_sort(byLast, [&](size_t a, size_t b) { return problem.buffers[a].last < problem.buffers[b].last; });

  // Walks time; `live` maps the offset of every live buffer to the buffer.
  std::map<int64_t, size_t> live;
  auto end = [&](size_t i) { return placement.offsets[i] + problem.buffers[i].bytes; };
  auto dying = byLast.begin();
  for (size_t i : byFirst) {
    for (; problem.buffers[*dying].last < problem.buffers[i].first; ++dying)
      live.erase(placement.offsets[*dying]);
    auto above = live.lower_bound(placement.offsets[i]);
    std::optional<size_t> clash;
    if (above != live.end() && above->first < end(i))
      clash = above->second;
    else if (above != live.begin() && end(std::prev(above)->second) > placement.offsets[i])
      clash = std::prev(above)->second;
    if (clash)
      return failure("buffers {0} at {1} to {2} and {3} at {4} to {5} overlap while both live", *clash,
                     placement.offsets[*clash], end(*clash), i, placement.offsets[i], end(i));
    live[placement.offsets[i]] = i;
  }
  return llvm::Error::success();
}
