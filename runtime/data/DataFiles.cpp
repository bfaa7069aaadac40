//===- DataFiles.cpp - the files in --data --------------------------------===//

#include "data/DataFiles.h"

#include "base/Error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

using namespace braid;
namespace fs = std::filesystem;

namespace {

struct Named {
  std::string path;
  std::optional<double> weight;
};

// Splits off a weight after the last colon. A text that is an existing path has no weight. Throws Error if
// the path before the colon exists and the rest is not a number.
Named parse(const std::string &text) {
  std::error_code error;
  const size_t colon = text.rfind(':');
  if (colon == text.npos || fs::exists(text, error))
    return {text, std::nullopt};
  double weight = 0;
  const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
  auto [next, status] = std::from_chars(begin, end, weight);
  if (begin == end || status != std::errc() || next != end) {
    if (fs::exists(text.substr(0, colon), error))
      fail("--data '", text, "' has no weight behind its colon; give a number above 0, as in ", text.substr(0, colon),
           ":0.7");
    return {text, std::nullopt};
  }
  if (!std::isfinite(weight) || weight <= 0)
    fail("--data '", text, "' has the weight ", std::string(begin, end), ", which must be a number above 0");
  return {text.substr(0, colon), weight};
}

bool isDataFile(const fs::path &path) {
  const std::string name = path.filename().string(), extension = path.extension().string();
  return !name.starts_with('.') && (extension == ".tok" || extension == ".bin" || extension == ".txt");
}

std::vector<std::string> filesOf(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return {path};
  std::vector<std::string> files;
  fs::directory_iterator entries(path, error);
  if (error)
    fail("cannot read the data folder '", path, "': ", error.message());
  for (const fs::directory_entry &entry : entries)
    if (isDataFile(entry.path()) && entry.is_regular_file(error))
      files.push_back(entry.path().string());
  if (files.empty())
    fail("the data folder '", path, "' has no file that ends in .tok, .bin or .txt; give the names of its files");
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

DataFiles braid::findData(const std::vector<std::string> &texts, DataFormat format) {
  DataFiles data{{}, format};
  std::optional<Named> weighted, plain;
  for (const std::string &text : texts) {
    const Named named = parse(text);
    (named.weight ? weighted : plain) = named;
    if (named.weight || data.groups.empty())
      data.groups.push_back({{}, named.weight.value_or(1)});
    for (std::string &path : filesOf(named.path))
      data.groups.back().paths.push_back(std::move(path));
  }
  if (weighted && plain)
    fail("--data gives '", weighted->path, "' a weight and '", plain->path,
         "' none; give weights to all files, or to none, which reads them in sequence");
  return data;
}

const std::string &braid::onlyFile(const DataFiles &data, const char *reason) {
  if (data.groups.size() != 1 || data.groups[0].paths.size() != 1)
    fail("--data names several files, but ", reason, "; give one");
  return data.groups[0].paths[0];
}
