//===- File.h - file descriptors that close themselves --------------------===//
//
// The only place where the runtime makes and opens files.  A path from the user may be a link, a
// device or a pipe.  Files that Braid names itself (temporaries, locks, event files, secrets) are
// opened without following links, must be regular files, and are private to their user until they
// are published.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_FILE_H
#define BRAID_BASE_FILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace braid {

// An open file that remembers its path for messages.  All failures throw Error.
class File {
public:
  // Opens a regular file or a block device.  Never waits for the writer of a pipe.
  static File openForReading(const std::string &path);
  // Opens a file that Braid names, without following a link; nullopt if it does not exist.
  static std::optional<File> openIfExists(const std::string &path);
  // Open a file that the user names; `createForWriting` truncates it.
  static File createForWriting(const std::string &path);
  static File openForAppending(const std::string &path);

  // Creates a file with mode 0600.  Replaces a file or a link of that name, and follows no link.
  static File createPrivate(const std::string &path);
  // Creates such a file with a random name, which begins with `path` and ends in .tmp.
  static File createTemporary(const std::string &path);
  // Opens a regular file to read and to write; creates it if it does not exist.
  enum class Links { Follow, Refuse };
  static File openToUpdate(const std::string &path, Links links = Links::Refuse);

  File(File &&other) noexcept;
  File &operator=(File &&) = delete;
  ~File();

  const std::string &path() const { return name; }
  uint64_t size() const;

  // Reads exactly `bytes` bytes at `offset`; fails if the file is shorter.
  void readAt(uint64_t offset, void *out, uint64_t bytes) const;
  // Writes after the bytes of earlier calls.
  void write(const void *data, uint64_t bytes);
  // Writes in the same way; after an error it removes the written part, if the file can be
  // truncated.
  void writeWhole(const void *data, uint64_t bytes);
  // Overwrites the bytes at `offset`.
  void writeAt(uint64_t offset, const void *data, uint64_t bytes);
  // Keeps only the first `bytes` bytes; `write` continues there.
  void truncate(uint64_t bytes);
  // Flushes the data to the medium; also reports errors that closing would hide.
  void sync();
  // Gives a private file the mode of any new file, by the umask.
  void publish();

  int descriptor() const { return fd; }
  // Returns the access of other users (except root) to the file: "read", "change" or "".
  std::string accessOfOthers() const;

private:
  static File openToWrite(const std::string &path, int mode);
  File(int fd, std::string name) : fd(fd), name(std::move(name)) {}

  int fd;
  std::string name;
};

// isFolder: whether the path is a folder or a link to one.  fileExists: whether the path exists, even
// as a broken link.  Neither throws.
bool isFolder(const std::string &path);
bool fileExists(const std::string &path);

// Returns the whole file; throws Error if it has more than `maxBytes`.
std::string readText(const std::string &path, uint64_t maxBytes);
// Returns the text of a file that Braid names (File::openIfExists).
std::optional<std::string> readTextIfExists(const std::string &path, uint64_t maxBytes);

// Makes a folder with mode 0700.
void makePrivateFolder(const std::string &path);
// Makes a folder and its missing parents, with `mode` narrowed by the umask.
void makeFolders(const std::string &path, mode_t mode);
// Gives a private folder the mode of any new folder.
void publishFolder(const std::string &path);

// Flushes renames and removals in a directory to the medium; ignores failure.
void syncDirectory(const std::string &directory);

// Replaces a file atomically: it has either its old content or this text.
void replaceFile(const std::string &path, const std::string &text);
// Creates a file atomically.  Returns false, and leaves the file unchanged, if it already exists.
bool createFile(const std::string &path, const std::string &text);

} // namespace braid
#endif // BRAID_BASE_FILE_H
