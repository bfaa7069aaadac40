//===- CheckedFile.cpp - a safetensors file with checksums ----------------===//

#include "checkpoint/CheckedFile.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace braid;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

// Limit of a block's size: a block is read into memory as a whole.
constexpr uint64_t maxBlockBytes = 16 << 20;

// Returns the block size in the metadata, or 0 without checksums. The header's own checksum protects the
// metadata. If only some of the keys are there, damage has hidden the others, so this throws Error.
uint64_t blockBytesOf(const SafetensorsFile &file) {
  uint64_t bytes = 0;
  if (!file.isSealed()) {
    for (const char *key : {kHeaderChecksum, kBlockBytes, kBlockChecksums})
      if (file.metadata().count(key))
        fail("'", file.path(), "' is damaged: its header has '", key, "', but not the checksum of a header");
    return 0;
  }
  auto at = file.metadata().find(kBlockBytes);
  if (at == file.metadata().end())
    fail("'", file.path(), "' has the checksum of its header, but lacks '", kBlockBytes, "'");
  auto [end, status] = std::from_chars(at->second.data(), at->second.data() + at->second.size(), bytes);
  if (status != std::errc() || *end != '\0' || bytes == 0 || bytes > maxBlockBytes)
    fail("'", file.path(), "' has checksums of blocks of '", at->second, "' bytes, which is not a number up to ",
         maxBlockBytes);
  return bytes;
}

} // namespace

CheckedFile::CheckedFile(const std::string &path) : file(path), blockBytes(blockBytesOf(file)) {
  if (!hasChecksums())
    return;
  uint64_t blocks = 0;
  for (const TensorEntry &entry : file.entries()) {
    firstBlocks.push_back(blocks);
    blocks += blocksOf(entry.end - entry.begin, blockBytes);
  }
  auto sums = file.metadata().find(kBlockChecksums);
  const uint64_t digits = sums == file.metadata().end() ? 0 : sums->second.size();
  if (digits != blocks * checksumDigits)
    fail("'", path, "' has ", digits, " digits of checksums, but ", blocks, " blocks need ", blocks * checksumDigits);
}

void CheckedFile::readBlock(const TensorEntry &entry, uint64_t block, std::byte *out, uint64_t bytes) const {
  const uint64_t number = firstBlocks[&entry - file.entries().data()] + block;
  file.read(entry, block * blockBytes, out, bytes);
  const std::string saved = file.metadata().at(kBlockChecksums).substr(number * checksumDigits, checksumDigits);
  const std::string found = checksumText(checksumOf(out, bytes));
  if (found != saved)
    throw DamagedData(concat("'", file.path(), "' is damaged: bytes [", block * blockBytes, ", ",
                             block * blockBytes + bytes, ") of tensor '", entry.name, "', at byte ",
                             file.placeOf(entry) + block * blockBytes, " of the file, have the checksum ", found,
                             ", but had ", saved, " when they were saved"));
}

void CheckedFile::read(const TensorEntry &entry, uint64_t offset, void *out, uint64_t bytes) const {
  if (!hasChecksums())
    return file.read(entry, offset, out, bytes);
  const uint64_t all = entry.end - entry.begin;
  for (std::byte *to = static_cast<std::byte *>(out); bytes > 0;) {
    const uint64_t block = offset / blockBytes, begin = block * blockBytes, size = std::min(blockBytes, all - begin);
    const uint64_t count = std::min(bytes, begin + size - offset);
    if (count == size) {
      readBlock(entry, block, to, size);
    } else {
      const uint64_t number = firstBlocks[&entry - file.entries().data()] + block;
      if (number != keptBlock) {
        keptBlock = UINT64_MAX;
        kept.resize(blockBytes);
        readBlock(entry, block, kept.data(), size);
        keptBlock = number;
      }
      std::memcpy(to, kept.data() + (offset - begin), count);
    }
    to += count, offset += count, bytes -= count;
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void CheckedWriter::write(const std::byte *data, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t count = std::min(bytes, checkedBlockBytes - filled);
    // Adds to the checksum while the data is in the processor's cache.
    if (count < checkedBlockBytes)
      sum.add(data, count);
    file.write(data, count);
    filled += count;
    if (filled == checkedBlockBytes)
      endBlock(count == checkedBlockBytes ? checksumOf(data, count) : sum.value());
    data += count, bytes -= count;
  }
}

void CheckedWriter::endTensor() {
  if (filled > 0)
    endBlock(sum.value());
}

void CheckedWriter::endBlock(uint64_t value) {
  putChecksum(digits, value);
  digits += checksumDigits;
  sum = Checksum();
  filled = 0;
}
