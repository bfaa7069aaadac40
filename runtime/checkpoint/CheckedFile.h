//===- CheckedFile.h - a safetensors file with checksums ------------------===//
//
// The metadata of a checkpoint file has the checksums of its tensors' bytes: one for each block of each
// tensor, in the order of the data. So a rank that reads part of a tensor can check it, and reads at most
// two partial blocks more.
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

// Thrown if bytes differ from those that were written.
class DamagedData : public Error {
public:
  using Error::Error;
};

// Metadata keys: the size of a block in bytes, and all checksums concatenated.
inline constexpr const char *kBlockBytes = "block_bytes", *kBlockChecksums = "block_xxh3";

// Bytes in a block: small enough for parts of a tensor. The 16 digits per block make files 0.006 % longer.
constexpr uint64_t checkedBlockBytes = 256 << 10;
inline uint64_t blocksOf(uint64_t bytes, uint64_t blockBytes) { return (bytes + blockBytes - 1) / blockBytes; }

class CheckedFile {
public:
  // Throws an Error that names the file and says what is wrong.
  explicit CheckedFile(const std::string &path);

  const SafetensorsFile &tensors() const { return file; }
  // Whether the file has checksums; files of other programs and older files have none.
  bool hasChecksums() const { return blockBytes != 0; }

  // Same as SafetensorsFile::read, but checks the bytes; throws DamagedData.
  void read(const TensorEntry &entry, uint64_t offset, void *out, uint64_t bytes) const;

private:
  void readBlock(const TensorEntry &entry, uint64_t block, std::byte *out, uint64_t bytes) const;

  SafetensorsFile file;
  uint64_t blockBytes = 0;           // 0: no checksums
  std::vector<uint64_t> firstBlocks; // index of each entry's first block
  // The block that was last needed in part; the next read often needs its rest.
  mutable std::vector<std::byte> kept;
  mutable uint64_t keptBlock = UINT64_MAX;
};

// Writes the data of a file, one tensor after another, and computes its checksums.
class CheckedWriter {
public:
  // Writes the checksums' digits to `digits`.
  CheckedWriter(File &file, char *digits) : file(file), digits(digits) {}

  void write(const std::byte *data, uint64_t bytes);
  void endTensor();

private:
  void endBlock(uint64_t sum);

  File &file;
  char *digits;
  Checksum sum; // of the current block
  uint64_t filled = 0;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKEDFILE_H
