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

// Returns what the owner of a file wrote after the name of this host; nothing if the file belongs to
// another host.
static std::optional<std::string> readNote(const File &file, const std::string &host) {
  constexpr uint64_t kMostDigits = 10;
  std::string content(std::min<uint64_t>(file.size(), host.size() + kMostDigits), '\0');
  file.readAt(0, content.data(), content.size());
  return content.starts_with(host) ? std::optional(content.substr(host.size())) : std::nullopt;
}

// Adds a note to the file without a change of its time, which tells when its owner started.
static void addNote(File &file, const std::string &note) {
  struct stat info = {};
  fstat(file.descriptor(), &info);
  file.write(note.data(), note.size());
  const timespec times[] = {info.st_atim, info.st_mtim};
  futimens(file.descriptor(), times);
}

// Returns the number that a text consists of; -1 for other texts.
static int numberIn(const std::string &text) {
  int number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() ? number : -1;
}

// The text is written after the file is locked: a file without text counts as absent.
Presence::Presence(const Joining &joining) : own(joining.rank), size(joining.size), host(ownHost() + '\n') {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(longHashOf(concat(joining.rendezvous, "|", joining.job, "|", host))));
  prefix = concat("rank-", hash, "-");
  try {
    folder = folderOfUser();
    (void)lockWithoutLeftovers(folder);
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
std::map<int, int> Presence::findEndedRanks() {
  std::set<int> living;
  std::map<int, int> ended;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    const int rank = rankOf(entry.path().filename().string());
    if (rank < 0 || rank >= size || rank == own)
      continue;
    try {
      const std::optional<File> other = File::openIfExists(entry.path().string());
      const std::optional<std::string> note = other ? readNote(*other, host) : std::nullopt;
      if (note && isHeld(*other))
        living.insert(rank);
      else if (note && (seen.count(rank) || startOf(*other) >= startOf(*file)))
        ended[rank] = std::max(numberIn(*note), ended.try_emplace(rank, -1).first->second);
    } catch (const Error &) { // an unreadable file gives no information
    }
  }
  for (int rank : living) {
    seen.insert(rank);
    ended.erase(rank);
  }
  for (auto &[rank, cause] : ended)
    if (cause < 0 || cause >= size || cause == own || living.count(cause))
      cause = rank;
  return ended;
}

void Presence::checkOthers() {
  std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (!file || now - lastCheck < kInterval)
    return;
  lastCheck = now;
  const std::map<int, int> ended = findEndedRanks();
  std::erase_if(endedBefore, [&](const auto &entry) { return !ended.count(entry.first); });
  for (const auto &[rank, cause] : ended) {
    if (now - endedBefore.try_emplace(rank, now).first->second < kRestart)
      continue;
    addNote(*file, std::to_string(cause));
    throw RankError(concat("rank ", cause, " ended before it joined; see its output or exit status for the reason"));
  }
}
