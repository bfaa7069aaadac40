//===- Presence.cpp - which ranks of this host have started, and ended ----===//

#include "comm/Presence.h"

#include "base/Error.h"
#include "base/Hash.h"
#include "comm/Joining.h"
#include "comm/LocalToken.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace braid;

// How often a rank looks, and how long another may need to be started once more.
static constexpr std::chrono::milliseconds kInterval(500);
static constexpr std::chrono::seconds kRestart(2);

// Folders for temporary files may be those of several hosts, which do not see each other's locks.
static std::string bootId() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

static bool isHeld(const File &file) { return flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0; }

static auto startOf(const File &file) {
  struct stat info = {};
  fstat(file.descriptor(), &info);
  return std::tuple(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

static std::optional<File> openOther(const std::string &path) {
  try {
    return File::openIfThere(path);
  } catch (const Error &) {
    return std::nullopt;
  }
}

// The file has its name once the lock is held.  A second process of one rank leaves it to the first.
Presence::Presence(const Joining &joining) : own(joining.rank), size(joining.size), boot(bootId()) {
  const std::string temporary = concat("/new-", getpid());
  try {
    const std::string folder = folderOfUser();
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(longHashOf(concat(joining.rendezvous, "|", joining.job))));
    prefix = concat(folder, "/rank-", hash, "-");
    if (std::optional<File> before = openOther(pathOf(own)); boot.empty() || (before && isHeld(*before)))
      return;
    File made = File::createPrivate(folder + temporary);
    made.write(boot.data(), boot.size());
    if (flock(made.descriptor(), LOCK_EX | LOCK_NB) == 0 && rename(made.path().c_str(), pathOf(own).c_str()) == 0)
      file.emplace(std::move(made));
  } catch (const Error &) { // others will know less about this rank
  }
  for (int rank = 0; file && rank < size; ++rank)
    (void)hasEnded(rank);
}

Presence::~Presence() {
  if (file && haveMet)
    unlink(pathOf(own).c_str());
}

std::string Presence::pathOf(int rank) const { return concat(prefix, rank); }

bool Presence::hasEnded(int rank) {
  std::optional<File> other = rank == own ? std::nullopt : openOther(pathOf(rank));
  if (!other || other->size() != boot.size())
    return false;
  std::string said(boot.size(), '\0');
  other->readAt(0, said.data(), said.size());
  if (said != boot)
    return false;
  if (isHeld(*other)) {
    seen.insert(rank);
    return false;
  }
  return seen.count(rank) || startOf(*other) >= startOf(*file);
}

void Presence::checkOthers() {
  std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (!file || now - lastCheck < kInterval)
    return;
  lastCheck = now;
  for (int rank = 0; rank < size; ++rank) {
    if (!hasEnded(rank))
      endedBefore.erase(rank);
    else if (now - endedBefore.try_emplace(rank, now).first->second >= kRestart)
      throw RankError(concat("rank ", rank, " ended before it joined; what it printed, or its exit status, says why"));
  }
}
