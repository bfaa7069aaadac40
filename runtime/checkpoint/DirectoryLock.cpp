//===- DirectoryLock.cpp - one job per checkpoint directory ---------------===//

#include "checkpoint/DirectoryLock.h"

#include "base/Error.h"
#include "checkpoint/CheckpointFolder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Contents of the lock file
//===----------------------------------------------------------------------===//

namespace {

using Record = std::map<std::string, std::string>;

// Returns the start time of a process, in ticks since boot: process ids are reused, start times are not.
// Empty if the process does not run.
std::string startOf(const std::string &process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name = text.rfind(')'); // the name may contain any character
  std::istringstream fields(name == std::string::npos ? "" : text.substr(name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) // fields of proc(5)
    fields >> field;
  return fields ? field : "";
}

std::string ownHost() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// Returns the process-id namespace of this process: containers have their own.
std::string pidNamespace() {
  std::error_code error;
  return fs::read_symlink("/proc/self/ns/pid", error).string();
}

Record ownRecord() {
  char now[32];
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", &utc);
  const std::string process = std::to_string(getpid());
  return {{"job", ""},      {"host", ownHost()},           {"process", process},
          {"started", now}, {"numbering", pidNamespace()}, {"ticks", startOf(process)}};
}

// Throws Error if the text is not that of a lock: then it is a user's file, and stays. A host that lost
// power may have left zeros in a lock file.
Record parseRecord(const std::string &path, const std::string &text) {
  Record record;
  std::istringstream lines(text);
  for (std::string line; record.size() < 16 && std::getline(lines, line);)
    if (const size_t space = line.find(' '); space != std::string::npos)
      record[line.substr(0, space)] = line.substr(space + 1);
  if (text.find_first_not_of('\0') != std::string::npos && !(record.count("host") && record.count("process")))
    fail("'", path,
         "' is not the lock of a job, so it is not overwritten; remove it, or give this job another --checkpoint "
         "directory");
  return record;
}

constexpr uint64_t maxLockBytes = 4096;

Record readRecord(const std::string &path) {
  return parseRecord(path, readTextIfExists(path, maxLockBytes).value_or(""));
}

Record readRecord(const File &file) {
  std::string text(std::min(file.size(), maxLockBytes), '\0');
  file.readAt(0, text.data(), text.size());
  return parseRecord(file.path(), text);
}

std::string describe(Record &holder) {
  if (holder.empty())
    return "another process, which has not recorded its identity yet";
  return concat(holder["job"].empty() ? "a job" : "job " + holder["job"], " on host '", holder["host"], "', process ",
                holder["process"], ", started ", holder["started"]);
}

bool isOfThisHost(Record &holder) { return holder["host"] == ownHost() && holder["numbering"] == pidNamespace(); }

bool runs(Record &holder) {
  const std::string ticks = startOf(holder["process"]);
  return !ticks.empty() && ticks == holder["ticks"];
}

// Returns the mount line of the file, which ends with the mount options (proc(5)).
std::string mountOf(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return "";
  const std::string device = concat(major(info.st_dev), ":", minor(info.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line, column; std::getline(mounts, line);) {
    std::istringstream columns(line);
    if (columns >> column >> column >> column && column == device)
      return line;
  }
  return "";
}

bool mayLockPerHost(int fd) {
  struct statfs info;
  return fstatfs(fd, &info) != 0 || !isFlockSharedByHosts(static_cast<uint32_t>(info.f_type), mountOf(fd));
}

[[noreturn]] void refuseHeld(const std::string &directory, Record holder) {
  fail("'", directory, "' is in use by ", describe(holder),
       "; let it end, or give this job another --checkpoint directory");
}

[[noreturn]] void refuseElsewhere(const std::string &directory, const std::string &path, Record holder) {
  fail("'", directory, "' was locked by ", describe(holder),
       ", and its file system cannot tell whether that job still runs; if it has ended, remove '", path,
       "' and start again");
}

} // namespace

// File system types have the numbers listed in statfs(2).
bool braid::isFlockSharedByHosts(uint32_t type, std::string_view mount) {
  auto has = [&](std::string_view option) { // options are between commas or spaces
    for (size_t begin = 0, end; begin < mount.size(); begin = end + 1) {
      end = std::min(mount.find_first_of(", ", begin), mount.size());
      if (mount.substr(begin, end - begin) == option)
        return true;
    }
    return false;
  };
  switch (type) {
  case 0x6969: // NFS
    return has("local_lock=none");
  case 0x0BD00BD0: // Lustre
    return has("flock");
  case 0x65735546: // FUSE
  case 0x01021997: // 9P
  case 0x517B:     // SMB, three versions
  case 0xFF534D42:
  case 0xFE534D42:
  case 0x5346414F: // AFS
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// The lock
//===----------------------------------------------------------------------===//

DirectoryLock::DirectoryLock(const std::string &directory, Flock flock)
    : directory(directory), path(directory + "/.lock"), isNew(!fileExists(directory)), own(ownRecord()) {
  prepareDirectory(directory);
  // Retries if another job removes the file between two steps of this one.
  for (int i = 0; i < 100 && !held; ++i)
    held = tryFlock(flock);
  if (!held)
    fail("cannot lock '", path, "': other jobs keep locking it; give this job another --checkpoint directory");
}

// Returns false if the file was removed meanwhile.
bool DirectoryLock::tryFlock(Flock flock) {
  file.emplace(File::openToUpdate(path));
  const int problem = flock(file->descriptor(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  Record holder = readRecord(*file);
  const bool isElsewhere = !holder.empty() && !isOfThisHost(holder) && mayLockPerHost(file->descriptor());
  if (problem == 0 && isOwn() && !isElsewhere) {
    cleanUpAfter(holder);
    record();
    return true;
  }
  file.reset();
  if (problem == EWOULDBLOCK)
    refuseHeld(directory, holder);
  if (problem == 0 && isElsewhere)
    refuseElsewhere(directory, path, holder);
  return problem != 0 && problem != EINTR && tryFile();
}

// Without flock, the job that creates the file holds the lock.
bool DirectoryLock::tryFile() {
  Record holder = readRecord(path);
  if (!holder.empty() && !isOfThisHost(holder))
    refuseElsewhere(directory, path, holder);
  if (!holder.empty() && runs(holder))
    refuseHeld(directory, holder);
  cleanUpAfter(holder);
  // The file is complete before it gets its final name.
  const std::string completePath = concat(path, ".", own["host"], ".", own["process"]);
  {
    File made = File::createPrivate(completePath);
    const std::string content = text();
    made.write(content.data(), content.size());
    made.publish();
  }
  unlink(path.c_str());
  const bool made = link(completePath.c_str(), path.c_str()) == 0;
  unlink(completePath.c_str());
  return made;
}

// Cleans up while the file still names the previous holder, because this process may be killed, too.
void DirectoryLock::cleanUpAfter(const Record &holder) const {
  if (auto job = holder.find("job"); job != holder.end() && !job->second.empty())
    removeLeftovers(directory, job->second);
}

std::string DirectoryLock::text() const {
  std::string text;
  for (const auto &[name, value] : own)
    text += concat(name, " ", value, "\n");
  return text;
}

void DirectoryLock::writeText(File &to) const {
  const std::string content = text();
  to.writeAt(0, content.data(), content.size());
  to.truncate(content.size());
}

// If the kernel's lock is valid on all hosts, the file needs no text. So a full disk does not keep a job
// from a directory in which it may free space (--keep).
void DirectoryLock::record() {
  try {
    writeText(*file);
  } catch (const Error &) {
    (void)!ftruncate(file->descriptor(), 0);
    if (mayLockPerHost(file->descriptor())) // jobs on other hosts detect this job by the text only
      throw;
  }
}

// Whether the file is still the one that this job created or locked.
bool DirectoryLock::isOwn() const {
  struct stat opened, named;
  if (!file) {
    Record record = readRecord(path);
    return record["host"] == own.at("host") && record["process"] == own.at("process") &&
           record["ticks"] == own.at("ticks");
  }
  return fstat(file->descriptor(), &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

void DirectoryLock::check() const {
  if (!isOwn())
    fail("'", path,
         "', the lock of this job, was removed or replaced, so another job may save there; let that job end, and start "
         "this job again");
}

void DirectoryLock::recordJob(const std::string &job) {
  check();
  own["job"] = job;
  if (file)
    return record();
  File whole = File::openToUpdate(path);
  writeText(whole);
}

DirectoryLock::~DirectoryLock() {
  try {
    if (held && isOwn())
      unlink(path.c_str());
  } catch (const Error &) { // the file belongs to another job or user by now
  }
  file.reset();
  if (isNew)
    rmdir(directory.c_str()); // only if it is empty
}
