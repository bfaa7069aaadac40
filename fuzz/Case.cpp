//===- Case.cpp - an input of a program -----------------------------------===//

#include "fuzz/Case.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace braid::fuzz;
namespace fs = std::filesystem;

std::string braid::fuzz::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Texts braid::fuzz::pathsBelow(const std::string &folder, const std::string &suffix) {
  Texts paths;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().string().ends_with(suffix))
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Files braid::fuzz::readFiles(const std::string &folder) {
  Files files;
  for (const std::string &path : pathsBelow(folder, ""))
    files[fs::relative(path, folder).string()] = readFile(path);
  return files;
}

void braid::fuzz::writeFiles(const std::string &folder, const Files &files) {
  for (const auto &[name, text] : files) {
    fs::path path = fs::path(folder) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
}

Case braid::fuzz::readCase(const std::string &folder) {
  Case input;
  input.files = readFiles(folder);
  std::istringstream lines(input.files["command"]);
  for (std::string line; std::getline(lines, line);)
    input.words.push_back(line);
  input.files.erase("command");
  return input;
}

void braid::fuzz::writeCase(const std::string &folder, const Case &input) {
  Files files = input.files;
  for (std::string word : input.words) {
    std::replace(word.begin(), word.end(), '\n', ' ');
    files["command"] += word + "\n";
  }
  writeFiles(folder, files);
}
