//===- File.h - file descriptors that close themselves --------------------===//
//
// The one place where the runtime makes and opens files.  What a user names may be a link, a
// device or a pipe.  What Braid names by itself (temporaries, locks, event files, secrets) is
// opened without following links, must be a regular file, and belongs to its user alone until
// it is published.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_FILE_H
#define BRAID_BASE_FILE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace braid {

// An open file that remembers its path for messages.  All failures throw Error.
class File {
public:
  // A regular file or a block device.  Never waits for the writer of a pipe.
  static File openForReading(const std::string &path);
  // The same of a file that Braid names: nothing where there is none, and no link is followed.
  static std::optional<File> openIfThere(const std::string &path);
  // Files that a user names; `createForWriting` truncates.
  static File createForWriting(const std::string &path);
  static File openForAppending(const std::string &path);

  // A new file with the mode 0600.  Replaces a file or a link of that name, and follows no link.
  static File createPrivate(const std::string &path);
  // The same with a random name, which begins with `path` and ends in .tmp.
  static File createTemporary(const std::string &path);
  // A regular file, to read and to write; created if it is absent.
  enum class Links { Follow, Refuse };
  static File openToUpdate(const std::string &path, Links links = Links::Refuse);

  File(File &&other) noexcept;
  File &operator=(File &&) = delete;
  ~File();

  const std::string &path() const { return name; }
  uint64_t size() const;

  // Exactly `bytes` bytes at `offset`; a shorter file is an error.
  void readAt(uint64_t offset, void *out, uint64_t bytes) const;
  // Appends.
  void write(const void *data, uint64_t bytes);
  // The same; what was written before an error is cut off again, where the file can be cut.
  void writeWhole(const void *data, uint64_t bytes);
  // In place of what is there.
  void writeAt(uint64_t offset, const void *data, uint64_t bytes);
  // Cuts off what is behind the first `bytes`; `write` goes on there.
  void truncate(uint64_t bytes);
  // Data on the medium; also reports what closing would have hidden.
  void sync();
  // Gives a private file the mode of any new file, as the umask has it.
  void publish();

  int descriptor() const { return fd; }
  // What users but this one and root can do with the file: "read", "change" or nothing.
  std::string othersCan() const;

private:
  static File openToWrite(const std::string &path, int mode);
  File(int fd, std::string name) : fd(fd), name(std::move(name)) {}

  int fd;
  std::string name;
};

// Whether a folder is there, or a link to one; and whether anything of that name is there, such as a
// link to itself.  Neither throws.
bool isFolder(const std::string &path);
bool isThere(const std::string &path);

// The whole file; throws Error if it has more than `mostBytes`.
std::string readText(const std::string &path, uint64_t mostBytes);
// The same of a file that Braid names (File::openIfThere).
std::optional<std::string> readTextIfThere(const std::string &path, uint64_t mostBytes);

// A new folder with the mode 0700.
void makePrivateFolder(const std::string &path);
// Makes a folder and the folders around it, as far as they are absent, with a mode that the umask
// narrows.
void makeFolders(const std::string &path, mode_t mode);
// Gives a private folder the mode of any new folder.
void publishFolder(const std::string &path);

// Has what is renamed or removed in a directory on the medium, as far as it can.
void syncDirectory(const std::string &directory);

// The file has either what it had before or this text, whatever happens.
void replaceFile(const std::string &path, const std::string &text);
// The same of a file that is not there yet; false, and it stays as it is, where somebody else was first.
bool createFile(const std::string &path, const std::string &text);

} // namespace braid
#endif // BRAID_BASE_FILE_H
