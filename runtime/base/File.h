//===- File.h - file descriptors that close themselves --------------------===//
#ifndef BRAID_BASE_FILE_H
#define BRAID_BASE_FILE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace braid {

// An open file that remembers its path for messages.  All failures throw Error.
class File {
public:
  static File openForReading(const std::string &path);
  static File createForWriting(const std::string &path); // truncates
  static File openForAppending(const std::string &path);

  File(File &&other) noexcept;
  File &operator=(File &&) = delete;
  ~File();

  const std::string &path() const { return name; }
  uint64_t size() const;

  // Exactly `bytes` bytes at `offset`; a shorter file is an error.
  void readAt(uint64_t offset, void *out, uint64_t bytes) const;
  // Appends.
  void write(const void *data, uint64_t bytes);
  // In place of what is there.
  void writeAt(uint64_t offset, const void *data, uint64_t bytes);
  // Data on the medium; also reports what closing would have hidden.
  void sync();

private:
  static File openToWrite(const std::string &path, int mode);
  File(int fd, std::string name) : fd(fd), name(std::move(name)) {}

  int fd;
  std::string name;
};

// Has what is renamed or removed in a directory on the medium, as far as it can.
void syncDirectory(const std::string &directory);

// The file has either what it had before or this text, whatever happens.
void replaceFile(const std::string &path, const std::string &text);
// The same of a file that is not there yet; false, and it stays as it is, where somebody else was first.
bool createFile(const std::string &path, const std::string &text);

} // namespace braid
#endif // BRAID_BASE_FILE_H
