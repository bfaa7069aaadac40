//===- Fingerprint.cpp - fingerprint of data files ------------------------===//

#include "data/Fingerprint.h"

#include "base/Error.h"
#include "base/File.h"
#include "base/Format.h"
#include "base/Hash.h"

#include <algorithm>

using namespace braid;

std::string braid::fingerprintOf(const std::string &path) {
  constexpr uint64_t blocks = 64, blockBytes = 4096;
  const File file = File::openForReading(path);
  const uint64_t size = file.size();
  uint64_t hash = longHashOf("");
  std::string block;
  for (uint64_t i = 0; i < std::min(blocks, (size + blockBytes - 1) / blockBytes); ++i) {
    // In a small file, blocks lie one behind another; otherwise the last block ends at the end of the file.
    const uint64_t begin = size <= blocks * blockBytes ? i * blockBytes : (size - blockBytes) / (blocks - 1) * i;
    const bool isLast = size > blocks * blockBytes && i == blocks - 1;
    const uint64_t first = isLast ? size - blockBytes : begin;
    block.resize(std::min(blockBytes, size - first));
    file.readAt(first, block.data(), block.size());
    hash = longHashOf(block, hash);
  }
  return concat(size, " bytes, sample ", formatHash(hash));
}

// Describes the format option, which changes how files without a format marker are read. Checkpoints hold this text.
static std::string describe(DataFormat format) {
  if (format == DataFormat::Auto)
    return "";
  return concat(", as ", format == DataFormat::NanoGpt ? "nanoGPT's" : cli::wordOf(format));
}

std::string braid::fingerprintOf(const DataFiles &data) {
  if (!data.isWeighted() && data.groups[0].paths.size() == 1)
    return fingerprintOf(data.groups[0].paths[0]) + describe(data.format);
  uint64_t hash = longHashOf(""), files = 0, bytes = 0;
  for (const DataGroup &group : data.groups) {
    if (data.isWeighted())
      hash = longHashOf(concat("weight ", formatExact(group.weight), "\n"), hash);
    for (const std::string &path : group.paths) {
      hash = longHashOf(fingerprintOf(path) + "\n", hash);
      ++files, bytes += File::openForReading(path).size();
    }
  }
  return concat(files, " files, ", bytes, " bytes, sample ", formatHash(hash), describe(data.format));
}
