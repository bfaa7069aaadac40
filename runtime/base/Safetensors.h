//===- Safetensors.h - reads the safetensors format -----------------------===//
//
// A file is an 8-byte little-endian header length, a JSON header {"name": {"dtype", "shape",
// "data_offsets"}, ..., "__metadata__": {strings}}, and the data.  The reader trusts nothing in a
// file: opening checks every length, type, shape and offset against the file, so that all returned
// entries are safe to read.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_SAFETENSORS_H
#define BRAID_BASE_SAFETENSORS_H

#include "base/File.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

struct TensorEntry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end; // bytes from the start of the data
};

// A header with this prefix continues with the checksum of the header and its length (seal).
inline constexpr const char *kHeaderChecksum = "header_xxh3";
inline constexpr std::string_view kSealedHeader = R"({"__metadata__":{"header_xxh3":")";

class SafetensorsFile {
public:
  // Throws Error that names the file and the problem.
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file.path(); }
  const std::vector<TensorEntry> &entries() const { return tensors; }
  const TensorEntry *find(const std::string &name) const; // null if there is none
  const std::map<std::string, std::string> &metadata() const { return strings; }

  // Whether the header has a checksum, which was correct.
  bool isSealed() const { return sealed; }
  // First byte of a tensor in the file.
  uint64_t placeOf(const TensorEntry &entry) const { return dataStart + entry.begin; }
  // Reads `bytes` bytes from byte `offset` of a tensor.
  void read(const TensorEntry &entry, uint64_t offset, void *out, uint64_t bytes) const;

private:
  void parse(const std::string &header, uint64_t dataBytes);
  void checkCoverage(uint64_t dataBytes) const;

  File file;
  bool sealed = false;
  uint64_t dataStart = 0;
  std::vector<TensorEntry> tensors;     // in the order of their data
  std::map<std::string, size_t> places; // index into `tensors`, by name
  std::map<std::string, std::string> strings;
};

// Bytes of one element of a safetensors type; 0 for an unknown name.
uint64_t safetensorsTypeSize(const std::string &dtype);

// Returns "[2, 3]".
std::string formatShape(const std::vector<int64_t> &shape);

} // namespace braid
#endif // BRAID_BASE_SAFETENSORS_H
