//===- LocalToken.cpp - job token for ranks of one host -------------------===//

#include "comm/LocalToken.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid;

std::string braid::folderOfUser() {
  std::error_code error;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::string folder = concat(error ? "/tmp" : temporary.string(), "/braid-", geteuid());
  struct stat found = {};
  bool exists = mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  if (!exists || lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0)
    fail("cannot keep the job's token in '", folder,
         "', which must be a folder that only this user can read; remove it, or set BRAID_JOB_TOKEN to a secret");
  return folder;
}

static std::string pathFor(int port) { return concat(folderOfUser(), "/rendezvous-", port); }

// Files of ranks that are younger than a day stay: ranks that are meeting may still read each other's
// (comm/Presence.h).
static bool isLeftover(const std::string &name, const std::filesystem::directory_entry &entry) {
  constexpr std::chrono::hours kMeeting(24);
  std::error_code error;
  const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(error);
  return name.starts_with("rendezvous-") || name.starts_with("new-") ||
         (name.starts_with("rank-") && !error && age > kMeeting);
}

Socket braid::lockWithoutLeftovers(const std::string &folder) {
  Socket lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  (void)flock(lock.get(), LOCK_EX);
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int file = isLeftover(name, entry) ? open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (file < 0)
      continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
      unlink(entry.path().c_str());
    close(file);
  }
  return lock;
}

// Writes the token file and locks it; the lock is held while the file is open.
static File writeSecret(const std::string &path, const std::string &text) {
  const std::string temporary = concat(std::filesystem::path(path).parent_path().string(), "/new-", getpid());
  try {
    File file = File::createPrivate(temporary);
    file.write(text.data(), text.size());
    (void)flock(file.descriptor(), LOCK_EX | LOCK_NB);
    if (rename(temporary.c_str(), path.c_str()) != 0)
      fail("cannot write '", path, "': ", strerror(errno));
    return file;
  } catch (const Error &error) {
    unlink(temporary.c_str());
    fail("cannot leave the job's token for the other ranks: ", error.what(), "; or set BRAID_JOB_TOKEN to a secret");
  }
}

static File placeSecret(const std::string &path, const std::string &text) {
  const Socket lock = lockWithoutLeftovers(folderOfUser());
  return writeSecret(path, text);
}

LocalToken::LocalToken(int port, const JobToken &token) : path(pathFor(port)), file(placeSecret(path, token.text())) {}

LocalToken::~LocalToken() { unlink(path.c_str()); }

JobToken braid::readLocalToken(int port) {
  int file = open(pathFor(port).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return {};
  char text[256];
  ssize_t bytes = read(file, text, sizeof text);
  close(file);
  return JobToken(std::string(text, std::max<ssize_t>(bytes, 0)));
}
