//===- CheckedFile.h - a safetensors file whose data is checked as it is read ===//
//
// A file of a checkpoint has in its metadata the checksums of its tensors' bytes: of
// each tensor in blocks, from its beginning on, in the order of the data.  So a rank
// that reads a part of a tensor can check it at the cost of the blocks at its ends.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_CHECKEDFILE_H
#define BRAID_CHECKPOINT_CHECKEDFILE_H

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/Safetensors.h"

#include <cstddef>
#include <string>
#include <vector>

namespace braid {

// Bytes that are not those that were written.
class DamagedData : public Error {
public:
  using Error::Error;
};

// Names in the metadata: the length of a block, and the checksums side by side.
inline constexpr const char *kBlockBytes = "block_bytes", *kBlockChecksums = "block_xxh3";

// Small enough for parts of a tensor; 16 digits each make files 0.006 % longer.
constexpr uint64_t checkedBlockBytes = 256 << 10;
inline uint64_t blocksOf(uint64_t bytes, uint64_t blockBytes) { return (bytes + blockBytes - 1) / blockBytes; }

class CheckedFile {
public:
  // Throws Error that names the file and what is wrong with it.
  explicit CheckedFile(const std::string &path);

  const SafetensorsFile &tensors() const { return file; }
  // Whether there is something to check by: files of others, and older ones, have none.
  bool hasChecksums() const { return blockBytes != 0; }

  // As SafetensorsFile::read; throws DamagedData.
  void read(const TensorEntry &entry, uint64_t offset, void *out, uint64_t bytes) const;

private:
  void readBlock(const TensorEntry &entry, uint64_t block, std::byte *out, uint64_t bytes) const;

  SafetensorsFile file;
  uint64_t blockBytes = 0;           // 0: there are no checksums
  std::vector<uint64_t> firstBlocks; // of each entry
  // The block that was needed in part last: its rest is often next.
  mutable std::vector<std::byte> kept;
  mutable uint64_t keptBlock = UINT64_MAX;
};

// Writes the data of a file and its checksums: the bytes of one tensor after another.
class CheckedWriter {
public:
  // Their digits go to where `digits` points.
  CheckedWriter(File &file, char *digits) : file(file), digits(digits) {}

  void write(const std::byte *data, uint64_t bytes);
  void endTensor();

private:
  void endBlock(uint64_t sum);

  File &file;
  char *digits;
  Checksum sum; // of the block that is begun
  uint64_t filled = 0;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKEDFILE_H
