//===- Presence.cpp - which ranks of this host have started, and ended ----===//

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

// How often a rank looks, and how long another may need to be started once more.
static constexpr std::chrono::milliseconds kInterval(500);
static constexpr std::chrono::seconds kRestart(5);

static bool isHeld(const File &file) { return flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0; }

static auto startOf(const File &file) {
  struct stat info = {};
  fstat(file.descriptor(), &info);
  return std::tuple(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Whether the lock of a file of this host is held; none where it is another host's.
static std::optional<bool> livesBehind(const File &file, const std::string &host) {
  std::string said(host.size(), '\0');
  if (file.size() != host.size())
    return std::nullopt;
  file.readAt(0, said.data(), said.size());
  return said == host ? std::optional(isHeld(file)) : std::nullopt;
}

// The text follows the lock: a file without it is not there yet.
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
  } catch (const Error &) { // others will know less about this rank
    if (!path.empty())
      unlink(path.c_str());
    return;
  }
  (void)look();
}

Presence::~Presence() {
  if (file && haveMet && std::uncaught_exceptions() == 0)
    unlink(path.c_str());
}

// Of rank-HASH-R.RANDOM.tmp; -1 for other names.
int Presence::rankOf(const std::string &name) const {
  int rank = -1;
  const char *begin = name.data() + std::min(prefix.size(), name.size()), *end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, rank);
  return name.starts_with(prefix) && error == std::errc() && stop != end && *stop == '.' ? rank : -1;
}

// A rank that is started again has a file of its own, beside that of its dead process.
std::set<int> Presence::look() {
  std::set<int> living, over;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    const int rank = rankOf(entry.path().filename().string());
    if (rank < 0 || rank >= size || rank == own)
      continue;
    try {
      const std::optional<File> other = File::openIfThere(entry.path().string());
      const std::optional<bool> lives = other ? livesBehind(*other, host) : std::nullopt;
      if (lives && *lives)
        living.insert(rank);
      else if (lives && (seen.count(rank) || startOf(*other) >= startOf(*file)))
        over.insert(rank);
    } catch (const Error &) { // a file that cannot be read says nothing
    }
  }
  for (int rank : living) {
    seen.insert(rank);
    over.erase(rank);
  }
  return over;
}

void Presence::checkOthers() {
  std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (!file || now - lastCheck < kInterval)
    return;
  lastCheck = now;
  const std::set<int> over = look();
  std::erase_if(endedBefore, [&](const auto &entry) { return !over.count(entry.first); });
  for (int rank : over)
    if (now - endedBefore.try_emplace(rank, now).first->second >= kRestart)
      throw RankError(concat("rank ", rank, " ended before it joined; what it printed, or its exit status, says why"));
}
