//===- Presence.cpp - detect ended ranks on this host ---------------------===//

#include "comm/Presence.h"

#include "base/Error.h"
#include "base/Hash.h"
#include "comm/Joining.h"
#include "comm/LocalToken.h"
#include "comm/OwnAddress.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace braid;

// How often a rank checks, and how long a restart of another rank may take.
static constexpr std::chrono::milliseconds kInterval(500);
static constexpr std::chrono::seconds kRestart(5);

static bool isHeld(const File &file) { return flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0; }

static auto startOf(const File &file) {
  struct stat info = {};
  fstat(file.descriptor(), &info);
  return std::tuple(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Whether the lock of a file is held; nothing if the file belongs to another host.
static std::optional<bool> isOwnerAlive(const File &file, const std::string &host) {
  std::string content(host.size(), '\0');
  if (file.size() != host.size())
    return std::nullopt;
  file.readAt(0, content.data(), content.size());
  return content == host ? std::optional(isHeld(file)) : std::nullopt;
}

// The text is written after the file is locked: a file without text counts as absent.
Presence::Presence(const Joining &joining) : own(joining.rank), size(joining.size), host(ownHost()) {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(longHashOf(concat(joining.rendezvous, "|", joining.job, "|", host))));
  prefix = concat("rank-", hash, "-");
  try {
    folder = folderOfUser();
    removeLeftovers(folder);
    File made = File::createTemporary(concat(folder, "/", prefix, own));
    path = made.path();
    if (flock(made.descriptor(), LOCK_EX | LOCK_NB) != 0)
      fail("'", path, "' cannot be locked");
    made.write(host.data(), host.size());
    file.emplace(std::move(made));
  } catch (const Error &) { // the other ranks will know less about this rank
    if (!path.empty())
      unlink(path.c_str());
    return;
  }
  (void)findEndedRanks();
}

Presence::~Presence() {
  if (file && haveMet && std::uncaught_exceptions() == 0)
    unlink(path.c_str());
}

// Parses rank-HASH-R.RANDOM.tmp and returns R; -1 for other names.
int Presence::rankOf(const std::string &name) const {
  int rank = -1;
  const char *begin = name.data() + std::min(prefix.size(), name.size()), *end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, rank);
  return name.starts_with(prefix) && error == std::errc() && stop != end && *stop == '.' ? rank : -1;
}

// A restarted rank has a new file beside the file of its dead process.
std::set<int> Presence::findEndedRanks() {
  std::set<int> living, ended;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    const int rank = rankOf(entry.path().filename().string());
    if (rank < 0 || rank >= size || rank == own)
      continue;
    try {
      const std::optional<File> other = File::openIfExists(entry.path().string());
      const std::optional<bool> lives = other ? isOwnerAlive(*other, host) : std::nullopt;
      if (lives && *lives)
        living.insert(rank);
      else if (lives && (seen.count(rank) || startOf(*other) >= startOf(*file)))
        ended.insert(rank);
    } catch (const Error &) { // an unreadable file gives no information
    }
  }
  for (int rank : living) {
    seen.insert(rank);
    ended.erase(rank);
  }
  return ended;
}

void Presence::checkOthers() {
  std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (!file || now - lastCheck < kInterval)
    return;
  lastCheck = now;
  const std::set<int> ended = findEndedRanks();
  std::erase_if(endedBefore, [&](const auto &entry) { return !ended.count(entry.first); });
  for (int rank : ended)
    if (now - endedBefore.try_emplace(rank, now).first->second >= kRestart)
      throw RankError(concat("rank ", rank, " ended before it joined; see its output or exit status for the reason"));
}
