//===- File.cpp - file descriptors that close themselves ------------------===//

#include "base/File.h"

#include "base/Error.h"
#include "cli/RegularFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace braid;

namespace {
// Bytes of one transfer; the kernel moves at most 2 GiB in a call.
constexpr uint64_t maxTransfer = 1 << 30;

// Returns the umask of this process.  umask(2) cannot read it without changing it for other
// threads.  Allocates no memory, because steps with a save must not.
mode_t ownMask() {
  char text[512] = {};
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t bytesRead = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  const char *found = bytesRead > 0 ? std::strstr(text, "Umask:") : nullptr;
  return found ? static_cast<mode_t>(std::strtoul(found + 6, nullptr, 8)) : 077;
}
} // namespace

File File::openForReading(const std::string &path) {
  std::string problem;
  const int fd = cli::openRegularFile(path, problem);
  if (fd < 0)
    fail("cannot ", problem.starts_with("it is") ? "read" : "open", " '", path, "': ", problem);
  return File(fd, path);
}

// O_NONBLOCK, because opening a pipe would wait for a writer.
std::optional<File> File::openIfExists(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT)
    return std::nullopt;
  if (fd < 0)
    fail("cannot open '", path, "': ", errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  File file(fd, path);
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    fail("cannot read '", path, "': it is not a regular file");
  return file;
}

File File::openToWrite(const std::string &path, int mode) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
  if (fd < 0)
    fail("cannot write '", path, "': ", std::strerror(errno));
  return File(fd, path);
}

File File::createForWriting(const std::string &path) { return openToWrite(path, O_TRUNC); }

File File::openForAppending(const std::string &path) { return openToWrite(path, O_APPEND); }

// Removes a leftover of that name instead of opening it: it may be a link to a foreign file.
File File::createPrivate(const std::string &path) {
  for (bool isFirst = true;; isFirst = false) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
      return File(fd, path);
    if (!isFirst || errno != EEXIST || unlink(path.c_str()) != 0)
      fail("cannot write '", path, "': ", std::strerror(errno));
  }
}

// Uses a random name: processes in several containers may have the same process number.
File File::createTemporary(const std::string &path) {
  std::string name = path + ".XXXXXX.tmp";
  const int fd = mkostemps(name.data(), /*suffixlen=*/4, O_CLOEXEC);
  if (fd < 0)
    fail("cannot write '", path, "': ", std::strerror(errno));
  return File(fd, name);
}

// O_NONBLOCK, because opening a pipe would wait for a reader.
File File::openToUpdate(const std::string &path, Links links) {
  const int follow = links == Links::Follow ? 0 : O_NOFOLLOW;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | follow, 0666);
  if (fd < 0 && errno == ELOOP && follow)
    fail("cannot write '", path, "': it is a symbolic link, which is not followed there; remove it");
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    fail("cannot write '", path, "': ", std::strerror(errno));
  File file(fd, path);
  if (!S_ISREG(info.st_mode))
    fail("cannot write '", path, "': it is not a regular file; remove it");
  return file;
}

File::File(File &&other) noexcept : fd(std::exchange(other.fd, -1)), name(std::move(other.name)) {}

File::~File() {
  if (fd >= 0)
    close(fd);
}

uint64_t File::size() const {
  struct stat info;
  if (fstat(fd, &info) != 0)
    fail("cannot examine '", name, "': ", std::strerror(errno));
  return static_cast<uint64_t>(info.st_size);
}

std::string File::accessOfOthers() const {
  struct stat info;
  if (fstat(fd, &info) != 0)
    fail("cannot examine '", name, "': ", std::strerror(errno));
  if ((info.st_mode & 022) != 0 || (info.st_uid != geteuid() && info.st_uid != 0))
    return "change";
  return (info.st_mode & 044) != 0 ? "read" : "";
}

void File::readAt(uint64_t offset, void *out, uint64_t bytes) const {
  char *to = static_cast<char *>(out);
  while (bytes) {
    ssize_t bytesRead = pread(fd, to, std::min(bytes, maxTransfer), static_cast<off_t>(offset));
    if (bytesRead < 0 && errno == EINTR)
      continue;
    if (bytesRead < 0)
      fail("cannot read '", name, "': ", std::strerror(errno));
    if (bytesRead == 0)
      fail("cannot read '", name, "': it ends at byte ", offset, ", ", bytes, " bytes early");
    to += bytesRead, offset += bytesRead, bytes -= bytesRead;
  }
}

// Writes all bytes.  `put(done, count)` writes up to `count` bytes from offset `done`, and returns
// how many.
template <class Put> static void writeAll(const std::string &name, uint64_t bytes, const Put &put) {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t written = put(done, std::min(bytes - done, maxTransfer));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail("cannot write '", name, "': ", std::strerror(errno));
    done += static_cast<uint64_t>(written);
  }
}

void File::write(const void *data, uint64_t bytes) {
  const char *from = static_cast<const char *>(data);
  writeAll(name, bytes, [&](uint64_t done, uint64_t count) { return ::write(fd, from + done, count); });
}

void File::writeWhole(const void *data, uint64_t bytes) {
  const off_t before = lseek(fd, 0, SEEK_END);
  try {
    write(data, bytes);
  } catch (const Error &) {
    if (before >= 0 && ftruncate(fd, before) == 0)
      lseek(fd, before, SEEK_SET);
    throw;
  }
}

void File::writeAt(uint64_t offset, const void *data, uint64_t bytes) {
  const char *from = static_cast<const char *>(data);
  writeAll(name, bytes, [&](uint64_t done, uint64_t count) {
    return pwrite(fd, from + done, count, static_cast<off_t>(offset + done));
  });
}

void File::truncate(uint64_t bytes) {
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 || lseek(fd, static_cast<off_t>(bytes), SEEK_SET) < 0)
    fail("cannot write '", name, "': ", std::strerror(errno));
}

// Ignores failure: file systems without modes have nothing to publish.
void File::publish() { (void)!fchmod(fd, 0666 & ~ownMask()); }

void File::sync() {
  // Pipes and similar files cannot be synced, and need not be.
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail("cannot write '", name, "': ", std::strerror(errno));
}

static std::string textOf(const File &file, uint64_t maxBytes) {
  if (file.size() > maxBytes)
    fail("'", file.path(), "' has ", file.size(), " bytes, above the limit of ", maxBytes);
  std::string text(file.size(), '\0');
  file.readAt(0, text.data(), text.size());
  return text;
}

std::string braid::readText(const std::string &path, uint64_t maxBytes) {
  return textOf(File::openForReading(path), maxBytes);
}

std::optional<std::string> braid::readTextIfExists(const std::string &path, uint64_t maxBytes) {
  const std::optional<File> file = File::openIfExists(path);
  return file ? std::optional(textOf(*file, maxBytes)) : std::nullopt;
}

bool braid::isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool braid::fileExists(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

void braid::makePrivateFolder(const std::string &path) {
  if (mkdir(path.c_str(), 0700) != 0)
    fail("cannot make the folder '", path, "': ", std::strerror(errno));
}

void braid::makeFolders(const std::string &path, mode_t mode) {
  const std::filesystem::path folder(path);
  if (isFolder(path))
    return;
  if (folder.has_parent_path() && folder.parent_path() != folder)
    makeFolders(folder.parent_path().string(), mode);
  if (folder.has_filename() && mkdir(path.c_str(), mode) != 0 && !(errno == EEXIST && isFolder(path)))
    fail("cannot make the folder '", path, "': ", std::strerror(errno));
}

void braid::publishFolder(const std::string &path) { (void)!chmod(path.c_str(), 0777 & ~ownMask()); }

void braid::syncDirectory(const std::string &directory) {
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

// Writes the text to a temporary file beside the path, and calls `place` to move it there.
template <class Place> static void writeWhole(const std::string &path, const std::string &text, const Place &place) {
  File file = File::createTemporary(path);
  const std::string temporary = file.path();
  try {
    file.write(text.data(), text.size());
    file.sync();
    file.publish();
    if (place(temporary.c_str()) != 0)
      fail("cannot write '", path, "': ", std::strerror(errno));
  } catch (const Error &) {
    unlink(temporary.c_str());
    throw;
  }
  unlink(temporary.c_str());
  const std::string directory = std::filesystem::path(path).parent_path().string();
  syncDirectory(directory.empty() ? "." : directory);
}

void braid::replaceFile(const std::string &path, const std::string &text) {
  writeWhole(path, text, [&](const char *temporary) { return std::rename(temporary, path.c_str()); });
}

bool braid::createFile(const std::string &path, const std::string &text) {
  bool isFirst = true;
  writeWhole(path, text, [&](const char *temporary) {
    if (link(temporary, path.c_str()) == 0)
      return 0;
    isFirst = errno != EEXIST;
    return isFirst ? std::rename(temporary, path.c_str()) : 0; // fallback for file systems without hard links
  });
  return isFirst;
}
