//===- Shadow.cpp - what is known of every byte of memory -----------------===//
#include "Shadow.h"

#include "Failures.h"
#include "Violation.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace shim;

namespace {

constexpr size_t pageBytes = 4096;
std::atomic<Segment> segments{0};

// Returns the halves of pair `index` that [offset, offset + bytes) covers.
unsigned halvesOf(size_t index, size_t offset, size_t bytes) {
  unsigned first = offset <= 2 * index ? 1 : 0, second = offset + bytes > 2 * index + 1 ? 2 : 0;
  return first | second;
}

// Returns whether the write in the cell may happen at the same time.
const char *racesWithWrite(const Cell &cell, const Accessor &a, unsigned halves) {
  if (cell.writeSegment < a.launch || !(cell.writeHalves & halves))
    return nullptr;
  if (cell.writeSegment < a.block)
    return "another block of the launch wrote";
  if (cell.writeSegment < a.now || cell.writeThread == a.thread)
    return nullptr;
  bool ordered = cell.writeThread / 32u == a.warp() && cell.writeCount < a.clock->known[cell.writeThread % 32];
  return ordered ? nullptr : "another thread of the block wrote with no barrier between";
}

// Returns whether barriers of the accessor's warp order all recorded reads before it.
bool readsPrecede(const Cell &cell, const Accessor &a) {
  if (cell.manyWarps || cell.readWarp != a.warp())
    return false;
  for (uint32_t others = cell.readLanes & ~(1u << a.lane()); others; others &= others - 1)
    if (cell.readCount >= a.clock->known[__builtin_ctz(others)])
      return false;
  return true;
}

const char *racesWithReads(const Cell &cell, const Accessor &a, unsigned halves) {
  if (cell.readSegment < a.launch || !(cell.readHalves & halves))
    return nullptr;
  if (cell.manyBlocks || cell.readSegment < a.block)
    return "another block of the launch reads";
  if (cell.readSegment < a.now || readsPrecede(cell, a))
    return nullptr;
  return "another thread of the block reads with no barrier between";
}

void rememberRead(Cell &cell, const Accessor &a, unsigned halves) {
  uint32_t lane = 1u << a.lane();
  // Accesses after this read also come after the reads that precede it.
  if (cell.readSegment != a.now || (readsPrecede(cell, a) && cell.readHalves == halves)) {
    if (cell.readSegment != a.now) {
      cell.manyBlocks = cell.readSegment >= a.launch && (cell.manyBlocks || cell.readSegment < a.block);
      cell.manyWarps = 0;
    }
    cell.readSegment = a.now;
    cell.readWarp = a.warp();
    cell.readLanes = lane;
    cell.readCount = a.count();
    cell.readHalves = halves;
    return;
  }
  cell.manyWarps |= cell.readWarp != a.warp();
  cell.readLanes |= lane;
  cell.readCount = std::max(cell.readCount, a.count());
  cell.readHalves |= halves;
}

std::string describe(const char *race, const char *access, size_t bytes) {
  return format("race: %s of %zu bytes that %s,", access, bytes, race);
}

void extend(Ranges &ranges, uint64_t begin, uint64_t end) {
  if (!ranges.empty() && ranges.back().second == begin)
    ranges.back().second = end;
  else
    ranges.emplace_back(begin, end);
}

} // namespace

Segment shim::nextSegment() {
  Segment next = ++segments;
  if (next == 0)
    violation("more barriers than the checker can number", false);
  return next;
}

template <class T> static T *zeroed(size_t count) {
  void *memory = std::calloc(count, sizeof(T));
  if (!memory)
    violation("the host has no memory for what is known of the device's", false);
  return static_cast<T *>(memory);
}

Shadow::Shadow(size_t bytes)
    : bytes(bytes), cells(zeroed<Cell>((bytes + 1) / 2), std::free), known(zeroed<uint8_t>(bytes), std::free),
      pages((bytes + pageBytes - 1) / pageBytes, 0) {}

void Shadow::touch(Segment launch, size_t offset, size_t bytes) {
  if (touching != launch)
    touched.clear();
  touching = launch;
  for (size_t page = offset / pageBytes; page <= (offset + bytes - 1) / pageBytes; ++page)
    if (pages[page] != launch) {
      pages[page] = launch;
      touched.push_back(page);
    }
}

std::string Shadow::load(const Accessor &a, size_t offset, size_t bytes) {
  if (size_t first = unwritten(offset, bytes); first < bytes)
    return format("read of %zu bytes of which byte %zu was never written,", bytes, first);
  touch(a.launch, offset, bytes);
  for (size_t i = offset / 2; i <= (offset + bytes - 1) / 2; ++i) {
    unsigned halves = halvesOf(i, offset, bytes);
    if (const char *race = racesWithWrite(cells[i], a, halves))
      return describe(race, "read", bytes);
    rememberRead(cells[i], a, halves);
  }
  return "";
}

std::string Shadow::store(const Accessor &a, size_t offset, size_t bytes) {
  touch(a.launch, offset, bytes);
  for (size_t i = offset / 2; i <= (offset + bytes - 1) / 2; ++i) {
    Cell &cell = cells[i];
    unsigned halves = halvesOf(i, offset, bytes);
    const char *race = racesWithWrite(cell, a, halves);
    if (!race)
      race = racesWithReads(cell, a, halves);
    if (race)
      return describe(race, "write", bytes);
    cell.writeSegment = a.now;
    cell.writeThread = a.thread;
    cell.writeCount = a.count();
    cell.writeHalves = halves;
  }
  written(offset, bytes);
  return "";
}

void Shadow::written(size_t offset, size_t bytes) { std::memset(known.get() + offset, 1, bytes); }

void Shadow::unwrite() { std::memset(known.get(), 0, bytes); }

void Shadow::copied(size_t offset, const Shadow &from, size_t fromOffset, size_t bytes) {
  std::memmove(known.get() + offset, from.known.get() + fromOffset, bytes);
}

void Shadow::setKnown(size_t offset, const uint8_t *from, size_t bytes) {
  std::memcpy(known.get() + offset, from, bytes);
}

size_t Shadow::unwritten(size_t offset, size_t bytes) const {
  if (anyInjected()) // what did not run has not written
    return bytes;
  const void *first = std::memchr(known.get() + offset, 0, bytes);
  return first ? static_cast<const uint8_t *>(first) - (known.get() + offset) : bytes;
}

void Shadow::forget() {
  std::fill_n(known.get(), bytes, 0);
  std::fill_n(cells.get(), (bytes + 1) / 2, Cell());
}

void Shadow::accessed(Segment launch, Ranges &reads, Ranges &writes) {
  std::sort(touched.begin(), touched.end());
  for (uint32_t page : touched) {
    size_t begin = page * pageBytes, end = std::min(begin + pageBytes, bytes);
    for (size_t i = begin / 2; i < (end + 1) / 2; ++i) {
      if (cells[i].readSegment >= launch)
        extend(reads, 2 * i, std::min(2 * i + 2, bytes));
      if (cells[i].writeSegment >= launch)
        extend(writes, 2 * i, std::min(2 * i + 2, bytes));
    }
  }
  touched.clear();
}
