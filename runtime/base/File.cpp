//===- File.cpp - file descriptors that close themselves ------------------===//

#include "base/File.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace braid;

namespace {
// The kernel moves at most 2 GiB a call.
constexpr uint64_t maxTransfer = 1 << 30;
} // namespace

File File::openForReading(const std::string &path) {
  // Who opens a pipe waits for somebody to write to it, unless told not to.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    fail("cannot open '", path, "': ", std::strerror(errno));
  File file(fd, path);
  if (S_ISDIR(info.st_mode))
    fail("cannot read '", path, "': it is a directory");
  if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
    fail("cannot read '", path,
         "': it is a pipe or a device, but random access is needed; "
         "copy it into a file");
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

void File::readAt(uint64_t offset, void *out, uint64_t bytes) const {
  char *to = static_cast<char *>(out);
  while (bytes) {
    ssize_t got = pread(fd, to, std::min(bytes, maxTransfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail("cannot read '", name, "': ", std::strerror(errno));
    if (got == 0)
      fail("cannot read '", name, "': it ends at byte ", offset, ", ", bytes, " bytes early");
    to += got, offset += got, bytes -= got;
  }
}

// `put(done, count)` writes what it can of the bytes from `done` on.
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

void File::writeAt(uint64_t offset, const void *data, uint64_t bytes) {
  const char *from = static_cast<const char *>(data);
  writeAll(name, bytes, [&](uint64_t done, uint64_t count) {
    return pwrite(fd, from + done, count, static_cast<off_t>(offset + done));
  });
}

void File::sync() {
  // Pipes and the like cannot be synced, and need not be.
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail("cannot write '", name, "': ", std::strerror(errno));
}

void braid::syncDirectory(const std::string &directory) {
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

// Writes the text beside the path, and calls `place` to put it there.
template <class Place> static void writeWhole(const std::string &path, const std::string &text, const Place &place) {
  const std::string temporary = concat(path, ".", getpid(), ".tmp");
  try {
    File file = File::createForWriting(temporary);
    file.write(text.data(), text.size());
    file.sync();
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
    return isFirst ? std::rename(temporary, path.c_str()) : 0; // some file systems have no links
  });
  return isFirst;
}
