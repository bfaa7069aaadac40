//===- PieceReader.cpp - read a part of a tensor from a file --------------===//

#include "checkpoint/PieceReader.h"

#include "base/NumberTypes.h"

#include <algorithm>
#include <cstring>

using namespace braid;

namespace {

constexpr int64_t bufferBytes = 1 << 20;
// Minimum bytes that the kernel reads.
constexpr int64_t gapBytes = 4096;
// From this many bytes on, a separate read is cheaper than a copy.
constexpr int64_t directBytes = 64 << 10;
constexpr size_t maxPendingReads = 4096;

using ToFloat = double (*)(const std::byte *);

template <class T> T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Returns how to read floats of the file's type; null for other types.
ToFloat conversionFrom(const std::string &dtype) {
  if (dtype == "F64")
    return [](const std::byte *at) { return load<double>(at); };
  if (dtype == "F32")
    return [](const std::byte *at) -> double { return load<float>(at); };
  if (dtype == "BF16")
    return [](const std::byte *at) -> double { return fromBFloat16(load<uint16_t>(at)); };
  if (dtype == "F16")
    return [](const std::byte *at) -> double { return fromFloat16(load<uint16_t>(at)); };
  return nullptr;
}

// Moves elements of one piece into memory.
class Transfer {
public:
  Transfer(const SavedTensors::Piece &piece, br_dtype dtype, std::byte *memory, std::vector<std::byte> &buffer,
           std::vector<Run> &pending)
      : piece(piece), dtype(dtype), memory(memory), buffer(buffer), pending(pending),
        fromSize(static_cast<int64_t>(safetensorsTypeSize(piece.entry.dtype))), toSize(elementSize(dtype)),
        convert(piece.entry.dtype == typeName(dtype) ? nullptr : conversionFrom(piece.entry.dtype)),
        room(bufferBytes / fromSize) {}

  void add(Run run);
  void flush();

private:
  void append(const Run &run);
  void convertRun(const Run &run) const;

  const SavedTensors::Piece &piece;
  br_dtype dtype;
  std::byte *memory;
  std::vector<std::byte> &buffer;
  std::vector<Run> &pending;
  int64_t fromSize, toSize;
  ToFloat convert;
  int64_t room;               // elements that fit the buffer
  int64_t begin = 0, end = 0; // range of the file to read
};

// Splits a run into reads that are large enough and fit the buffer.
void Transfer::add(Run run) {
  if (!convert && run.step == 1 && run.otherStep == 1 && run.count * toSize >= directBytes) {
    flush();
    piece.file.read(piece.entry, run.place * fromSize, memory + run.otherPlace * toSize, run.count * fromSize);
    return;
  }
  const int64_t maxCount = run.step * fromSize > gapBytes ? 1 : std::max<int64_t>((room - 1) / run.step, 1);
  while (run.count > 0) {
    Run part = run;
    part.count = std::min(run.count, maxCount);
    append(part);
    run.place += part.count * run.step;
    run.otherPlace += part.count * run.otherStep;
    run.count -= part.count;
  }
}

void Transfer::append(const Run &run) {
  const int64_t last = run.place + (run.count - 1) * run.step + 1;
  // Runs mostly arrive in the order of the file (forEachRun).
  if (!pending.empty() && (run.place < begin || (run.place - end) * fromSize > gapBytes || last - begin > room ||
                           pending.size() == maxPendingReads))
    flush();
  if (pending.empty())
    begin = end = run.place;
  pending.push_back(run);
  end = std::max(end, last);
}

void Transfer::flush() {
  if (pending.empty())
    return;
  piece.file.read(piece.entry, begin * fromSize, buffer.data(), (end - begin) * fromSize);
  for (Run &run : pending)
    run.place -= begin;
  if (convert)
    for (const Run &run : pending)
      convertRun(run);
  else
    copyRuns(pending, buffer.data(), memory, toSize);
  pending.clear();
}

void Transfer::convertRun(const Run &run) const {
  const std::byte *from = buffer.data() + run.place * fromSize;
  std::byte *to = memory + run.otherPlace * toSize;
  for (int64_t i = 0; i < run.count; ++i)
    putNumber(dtype, to + i * run.otherStep * toSize, convert(from + i * run.step * fromSize));
}

} // namespace

bool braid::isConvertible(const std::string &from, br_dtype to) {
  return from == typeName(to) || (conversionFrom(from) && (to == BR_F64 || to == BR_F32 || to == BR_BF16));
}

PieceReader::PieceReader() : buffer(bufferBytes) { pending.reserve(maxPendingReads); }

void PieceReader::read(const SavedTensors::Piece &piece, const TensorPart &part, br_dtype dtype, std::byte *memory) {
  Transfer transfer(piece, dtype, memory, buffer, pending);
  forEachRun(piece.part, part, [&](const Run &run) { transfer.add(run); });
  transfer.flush();
}
