//===- CpuFeatures.cpp - checks the processor's features ------------------===//
//
// Without this check, the first unsupported vector instruction would end the process with "illegal
// instruction".  The kernel's list in /proc/cpuinfo writes names with underscores where compilers
// write dots or nothing.  So both are compared without punctuation.
//
//===----------------------------------------------------------------------===//

#include "base/CpuFeatures.h"

#include "base/Error.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace braid;

namespace {

std::string bare(std::string name) {
  std::erase_if(name, [](char c) { return c == '_' || c == '.' || c == '-'; });
  // The kernel has other names for these two features.
  if (name == "sse3")
    return "pni";
  if (name == "lzcnt")
    return "abm";
  return name;
}

std::set<std::string> processorFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, word;
  std::set<std::string> features;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    while (words >> word)
      features.insert(bare(word));
    break;
  }
  return features;
}

} // namespace

void braid::checkCpuFeatures(const std::string &features) {
  std::set<std::string> present = processorFeatures();
  if (present.empty()) // without /proc there is nothing to compare with
    return;
  std::istringstream wanted(features);
  std::string name;
  while (wanted >> name)
    if (!present.count(bare(name)))
      fail("this program was compiled for a processor with ", name, " (it uses: ", features,
           "), which this machine lacks; compile it here, or with braidc --cpu= naming this machine's processor");
}
