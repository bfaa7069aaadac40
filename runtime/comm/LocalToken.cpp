//===- LocalToken.cpp - a job token for the ranks of one host -------------===//

#include "comm/LocalToken.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid;

// Makes the user's folder if need be; nobody else may write or read there.
static std::string folderOfUser() {
  std::error_code error;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::string folder = concat(error ? "/tmp" : temporary.string(), "/braid-", geteuid());
  struct stat found = {};
  bool isThere = mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  if (!isThere || lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0)
    fail("cannot keep the job's token in '", folder,
         "', which must be a folder that only this user can read; remove it, or set BRAID_JOB_TOKEN to a secret");
  return folder;
}

static std::string pathFor(int port) { return concat(folderOfUser(), "/rendezvous-", port); }

static void writeSecret(const std::string &path, const std::string &text) {
  std::string temporary = concat(path, ".", getpid());
  unlink(temporary.c_str());
  int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool isWritten = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0)
    isWritten &= close(file) == 0;
  if (!isWritten || rename(temporary.c_str(), path.c_str()) != 0)
    fail("cannot write the job's token to '", path, "': ", strerror(errno), "; or set BRAID_JOB_TOKEN to a secret");
}

LocalToken::LocalToken(int port, const JobToken &token) : path(pathFor(port)) { writeSecret(path, token.text()); }

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
