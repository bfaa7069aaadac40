//===- FolderStore.cpp - a store that is a folder -------------------------===//

#include "comm/FolderStore.h"

#include "base/Error.h"
#include "comm/JobToken.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

using namespace braid;
namespace fs = std::filesystem;

static void makeFolder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail("cannot make the folder '", folder, "', the rendezvous of the ranks: ", error.message());
}

static std::optional<std::string> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

FolderStore::FolderStore(std::string name, int rank, int size, Clock::time_point deadline)
    : folder(std::move(name)), number(hexOf(randomBytes(16))) {
  makeFolder(folder);
  if (rank == 0)
    startGeneration(size);
  else
    joinGeneration(rank, deadline);
}

// Earlier ones are over: a rendezvous has one job at a time.
void FolderStore::startGeneration(int size) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().rfind("generation-", 0) == 0)
      fs::remove_all(entry.path(), ignored);
  generation = folder + "/generation-" + number;
  makeFolder(generation);
  for (int rank = 1; rank < size; ++rank)
    outside[rank] = "";
  welcome();
}

void FolderStore::joinGeneration(int rank, Clock::time_point deadline) {
  write(concat(folder, "/hello-", rank), number);
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    std::optional<std::string> answer = read(concat(folder, "/welcome-", rank));
    if (answer && answer->rfind(number, 0) == 0) {
      generation = folder + "/generation-" + answer->substr(number.size());
      return write(concat(generation, "/%in-", rank), "");
    }
    if (Clock::now() >= deadline)
      fail("rank 0 has not joined");
  }
}

// Whoever has not come in yet may have been started again, or its hello may be left over.
void FolderStore::welcome() {
  std::error_code ignored;
  for (auto each = outside.begin(); each != outside.end();) {
    auto &[rank, answered] = *each;
    if (fs::exists(concat(generation, "/%in-", rank), ignored)) {
      each = outside.erase(each);
      continue;
    }
    std::optional<std::string> hello = read(concat(folder, "/hello-", rank));
    if (hello && *hello != answered) {
      write(concat(folder, "/welcome-", rank), *hello + number);
      answered = *hello;
    }
    ++each;
  }
}

// Keys are paths; names of files are not.  No key becomes one of the names with %in.
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
  std::string temporary = concat(path, ".", number);
  std::ofstream file(temporary, std::ios::binary);
  file << value;
  file.close();
  std::error_code error;
  if (file)
    fs::rename(temporary, path, error);
  if (!file || error)
    fail("cannot write '", path, "', in the rendezvous of the ranks");
}

void FolderStore::set(const std::string &key, const std::string &value) { write(pathOf(key), value); }

std::optional<std::string> FolderStore::find(const std::string &key) {
  welcome();
  return read(pathOf(key));
}
