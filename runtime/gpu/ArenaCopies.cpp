//===- ArenaCopies.cpp - copies between the host's memory and the arena ---===//

#include "gpu/ArenaCopies.h"

#include "base/Error.h"
#include "base/Format.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>

using namespace braid;

ArenaCopies::ArenaCopies(std::byte *arena, uint64_t largest, const GpuStream &stream, int threads, uint64_t limit)
    : arena(arena), stream(stream), threads(threads), pieceBytes(std::clamp<uint64_t>(largest, 1, limit)) {}

// Halves the buffers where the system limits pinned memory (ulimit -l, cgroups): smaller ones do.
void ArenaCopies::makeBuffers() {
  while (buffers.empty()) {
    try {
      std::vector<Buffer> made;
      for (int i = 0; i < 2; ++i)
        made.push_back({PinnedMemory(pieceBytes)});
      buffers = std::move(made);
    } catch (const Error &error) {
      if (pieceBytes <= minBytes)
        fail("cannot pin two buffers of ", formatBytes(pieceBytes),
             " of the host's memory for copies from and to the device; allow the process more (ulimit -l, the memory "
             "limit of its control group): ",
             error.what());
      clearGpuError();
      pieceBytes = std::max(pieceBytes / 2, minBytes);
    }
  }
}

uint64_t ArenaCopies::lengthOf(const Range &part, uint64_t piece) const {
  return std::min(pieceBytes, part.bytes - piece * pieceBytes);
}

void ArenaCopies::await(const Buffer &buffer) const {
  buffer.done.synchronize().check(" of a copy between host and arena");
}

// Copies with all threads if the range is large enough.
void ArenaCopies::copyOnHost(std::byte *to, const std::byte *from, uint64_t bytes) const {
  constexpr uint64_t worthThreads = 1 << 20;
  parallelRanges(bytes < worthThreads ? 1 : threads, static_cast<int64_t>(bytes),
                 [&](int, int64_t begin, int64_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}

void ArenaCopies::fetch(const Range &part, uint64_t piece) {
  if (piece >= piecesOf(part))
    return;
  Buffer &buffer = bufferOf(piece);
  stream.copyToHost(buffer.memory.data(), arena + part.offset + piece * pieceBytes, lengthOf(part, piece))
      .check(" from the arena");
  buffer.done.record(stream).check();
}

void ArenaCopies::expect(uint64_t offset, uint64_t bytes) {
  makeBuffers();
  const Range part = {offset, bytes};
  fetch(part, 0);
  fetch(part, 1);
  expected = part;
}

void ArenaCopies::read(uint64_t offset, void *to, uint64_t bytes) {
  const Range part = {offset, bytes};
  if (expected != part)
    expect(offset, bytes);
  expected.reset();
  for (uint64_t piece = 0; piece < piecesOf(part); ++piece) {
    await(bufferOf(piece));
    copyOnHost(static_cast<std::byte *>(to) + piece * pieceBytes, bufferOf(piece).memory.data(), lengthOf(part, piece));
    fetch(part, piece + 2);
  }
}

void ArenaCopies::write(uint64_t offset, const void *from, uint64_t bytes) {
  makeBuffers();
  expected.reset();
  const Range part = {offset, bytes};
  for (uint64_t piece = 0; piece < piecesOf(part); ++piece) {
    Buffer &buffer = bufferOf(piece);
    await(buffer);
    copyOnHost(buffer.memory.data(), static_cast<const std::byte *>(from) + piece * pieceBytes, lengthOf(part, piece));
    stream.copyToDevice(arena + offset + piece * pieceBytes, buffer.memory.data(), lengthOf(part, piece))
        .check(" to the arena");
    buffer.done.record(stream).check();
  }
  for (const Buffer &buffer : buffers)
    await(buffer);
}
