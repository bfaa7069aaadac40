//===- TestFiles.h - scratch directories and files of tests ---------------===//
#ifndef BRAID_TEST_TESTFILES_H
#define BRAID_TEST_TESTFILES_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace braid::test {

// A directory of its own, removed with everything in it.
class ScratchDirectory {
public:
  ScratchDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "braid-XXXXXX";
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make a scratch directory");
    path = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return path + "/" + name; }

  std::string path;
};

inline std::string writeFile(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string littleEndian(uint64_t x, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(x >> (8 * i));
  return text;
}

inline uint64_t littleEndianAt(const std::string &text) {
  uint64_t x = 0;
  for (int i = 7; i >= 0; --i)
    x = x << 8 | static_cast<unsigned char>(text[i]);
  return x;
}

// A safetensors file of any header and data.
inline std::string safetensors(const std::string &header, const std::string &data) {
  return littleEndian(header.size(), 8) + header + data;
}

// Returns a file of a checkpoint, or its index, in the form of versions without checksums.
inline std::string withoutChecksums(std::string file) {
  const size_t brace = file.find('{', file.starts_with("{\"index_xxh3") ? 0 : file.find('{') + 1);
  const size_t end = file.find(brace == 0 ? "\"job\"" : "\"format\"");
  file.erase(brace + 1, end - brace - 1);
  if (brace > 0)
    file.replace(0, 8, littleEndian(littleEndianAt(file) - (end - brace - 1), 8));
  return file;
}

// Returns a file of a checkpoint without the random id of its job and the checksum that depends on it.
inline std::string ofAnyJob(std::string file) {
  for (const std::string &key : {std::string("\"job_id\":\""), std::string("\"header_xxh3\":\"")})
    if (size_t at = file.find(key); at != file.npos)
      file.replace(at + key.size(), 16, 16, '0');
  return file;
}

} // namespace braid::test
#endif // BRAID_TEST_TESTFILES_H
