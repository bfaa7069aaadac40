//===- FolderStore.cpp - a store that is a folder -------------------------===//

#include "comm/FolderStore.h"

#include "base/Error.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

using namespace braid;

FolderStore::FolderStore(std::string name) : folder(std::move(name)) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail("cannot make the folder '", folder, "', the rendezvous of the ranks: ", error.message());
}

// Keys are paths; names of files are not.
std::string FolderStore::pathOf(const std::string &key) const {
  std::string name;
  for (char c : key)
    if (c == '/' || c == '%')
      name += c == '/' ? "%2f" : "%25";
    else
      name += c;
  return folder + "/" + name;
}

void FolderStore::set(const std::string &key, const std::string &value) {
  std::string path = pathOf(key), temporary = concat(path, ".", getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << value;
  file.close();
  std::error_code error;
  if (file)
    std::filesystem::rename(temporary, path, error);
  if (!file || error)
    fail("cannot write '", path, "', in the rendezvous of the ranks");
}

std::optional<std::string> FolderStore::find(const std::string &key) {
  std::ifstream file(pathOf(key), std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}
