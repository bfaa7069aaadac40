//===- FolderStore.cpp - a key-value store in a folder --------------------===//

#include "comm/FolderStore.h"

#include "base/Error.h"
#include "base/File.h"
#include "comm/JobToken.h"
#include "comm/WaitNotice.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

// Size limit of a value; values are addresses and start facts.
static constexpr uint64_t maxBytes = 16 << 20;

// Opens the folder; creates it for this user only if it does not exist. Anyone who can write there can act
// as a rank, so without a token the folder must be private.
static Socket openFolder(const std::string &folder, bool hasToken) {
  makeFolders(folder, 0700);
  Socket opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info;
  if (!opened || fstat(opened.get(), &info) != 0)
    fail("cannot open the folder '", folder, "', the rendezvous of the ranks: ", std::strerror(errno));
  if (!hasToken && (info.st_uid != geteuid() || (info.st_mode & 022) != 0))
    fail("other users can write to the folder '", folder,
         "', the rendezvous of the ranks, and could join the job: remove it, name a folder that only this user can "
         "write to, or set BRAID_JOB_TOKEN to the same secret for all ranks");
  return opened;
}

FolderStore::FolderStore(const std::string &name, const Joining &joining, Clock::time_point deadline)
    : named(name), opened(openFolder(name, !joining.token.empty())), folder(concat("/proc/self/fd/", opened.get())),
      number(hexOf(randomBytes(16))) {
  if (joining.rank == 0)
    startGeneration(joining.size);
  else
    joinGeneration(joining, deadline);
}

// Removes earlier generations: a rendezvous serves one job at a time.
void FolderStore::startGeneration(int size) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().rfind("generation-", 0) == 0)
      fs::remove_all(entry.path(), ignored);
  generation = folder + "/generation-" + number;
  makePrivateFolder(generation);
  for (int rank = 1; rank < size; ++rank)
    outside[rank] = "";
  answerHellos();
}

void FolderStore::joinGeneration(const Joining &own, Clock::time_point deadline) {
  const int rank = own.rank;
  WaitNotice notice(own);
  write(concat(folder, "/hello-", rank), number);
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    std::optional<std::string> answer = readTextIfExists(concat(folder, "/welcome-", rank), maxBytes);
    if (answer && answer->rfind(number, 0) == 0) {
      generation = folder + "/generation-" + answer->substr(number.size());
      return write(concat(generation, "/%in-", rank), "");
    }
    if (Clock::now() >= deadline)
      fail("rank 0 has not joined");
    notice.reportPeriodically([] { return std::string("rank 0"); });
  }
}

// Answers hellos of ranks that have not come in yet: such a rank may have been restarted, or its hello may
// be a leftover.
void FolderStore::answerHellos() {
  for (auto each = outside.begin(); each != outside.end();) {
    auto &[rank, answered] = *each;
    if (fileExists(concat(generation, "/%in-", rank))) {
      each = outside.erase(each);
      continue;
    }
    std::optional<std::string> hello = readTextIfExists(concat(folder, "/hello-", rank), maxBytes);
    if (hello && *hello != answered) {
      write(concat(folder, "/welcome-", rank), *hello + number);
      answered = *hello;
    }
    ++each;
  }
}

// Encodes a key, which may contain '/', as a file name. No key is encoded as a name that contains %in.
std::string FolderStore::pathOf(const std::string &key) const {
  std::string name;
  for (char c : key)
    if (c == '/' || c == '%')
      name += c == '/' ? "%2f" : "%25";
    else
      name += c;
  return generation + "/" + name;
}

void FolderStore::write(const std::string &path, const std::string &value) const {
  const std::string temporary = concat(path, ".", number);
  try {
    File::createPrivate(temporary).write(value.data(), value.size());
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error)
      fail(error.message());
  } catch (const Error &error) {
    fail("cannot write to '", named, "', the rendezvous of the ranks: ", error.what());
  }
}

void FolderStore::set(const std::string &key, const std::string &value) { write(pathOf(key), value); }

std::optional<std::string> FolderStore::find(const std::string &key) {
  answerHellos();
  return readTextIfExists(pathOf(key), maxBytes);
}
