//===- Blobs.h - several strings packed into one --------------------------===//
#ifndef BRAID_COMM_BLOBS_H
#define BRAID_COMM_BLOBS_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace braid {

// Concatenates the blobs, each preceded by its length in bytes.
inline std::string joinBlobs(const std::vector<std::string> &blobs) {
  std::string text;
  for (const std::string &blob : blobs) {
    uint64_t size = blob.size();
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
    text += blob;
  }
  return text;
}

inline std::vector<std::string> splitBlobs(const std::string &text) {
  std::vector<std::string> blobs;
  for (size_t at = 0; at + sizeof(uint64_t) <= text.size();) {
    uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof size);
    at += sizeof size;
    blobs.push_back(text.substr(at, size));
    at += blobs.back().size();
  }
  return blobs;
}

} // namespace braid
#endif // BRAID_COMM_BLOBS_H
