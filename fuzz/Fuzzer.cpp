//===- Fuzzer.cpp - programs under inputs that are nearly right -----------===//

#include "fuzz/Fuzzer.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <getopt.h>
#include <iostream>

using namespace braid::fuzz;
namespace fs = std::filesystem;

static constexpr const char *kHelp = R"(usage: %s [OPTIONS] [FOLDER...]
Runs programs on inputs that are nearly right, or again on the cases in folders.
Input number N of a seed is always the same one.  The exit status is 1 if one fails.

  --inputs=N     how many inputs, over all targets (1000)
  --first=N      the number of the first one (0)
  --seed=S       (1)
  --target=NAME  only this target; "list" lists them
  --save=FOLDER  write the inputs that fail there, each in a folder of its own
  --write=N      write input number N to the folder of --save, and do not run it
  --seconds=S    how long an input may take of a processor (20)
  --memory=MIB   how much memory it may take (4096)
  --verbose      print what programs say of each
)";

namespace {

struct Options {
  uint64_t inputs = 1000, first = 0, seed = 1, write = ~0ull;
  std::string target, save;
  bool verbose = false;
  Limits limits;
};

class Fuzzer {
public:
  Fuzzer(const std::vector<Target> &targets, const Options &options) : options(options) {
    for (const Target &target : targets)
      if (options.target.empty() || options.target == target.name)
        shares.insert(shares.end(), target.share, &target);
  }

  bool hasTargets() const { return !shares.empty(); }

  void runInput(uint64_t number) {
    Random random(options.seed * 0x9E3779B97F4A7C15u + number);
    const Target &target = *random.pick(shares);
    Case input = target.make(random);
    std::string name = std::string(target.name) + "-" + std::to_string(options.seed) + "-" + std::to_string(number);
    if (number == options.write)
      return writeCase(options.save + "/" + target.name + "/" + name, input);
    count(target, input, name + " (--seed=" + std::to_string(options.seed) + " --first=" + std::to_string(number) + ")",
          name);
  }

  /// Returns the cases of these programs below the folder: TARGET/CASE/command.
  void runFolder(const std::string &folder) {
    for (const std::string &path : pathsBelow(folder, "/command")) {
      std::string place = fs::path(path).parent_path(), target = fs::path(place).parent_path().filename();
      auto found = std::find_if(shares.begin(), shares.end(), [&](const Target *one) { return one->name == target; });
      if (found != shares.end())
        count(**found, readCase(place), place, "");
    }
  }

  int finish() {
    std::cout << inputs << " inputs, " << refused << " refused, " << failures << " failures\n";
    return failures ? 1 : 0;
  }

private:
  void count(const Target &target, const Case &input, const std::string &where, const std::string &name) {
    ++inputs;
    Outcome outcome = runCase(target, input, options.limits);
    refused += outcome.isRefused;
    if (options.verbose)
      std::printf("%s: %s: %s\n", name.c_str(), outcome.isRefused ? "refused" : "taken",
                  outcome.said.substr(0, 200).c_str());
    if (outcome.problem.empty())
      return;
    ++failures;
    std::printf("%s: %s\n%s\n", where.c_str(), outcome.problem.c_str(), outcome.said.substr(0, 600).c_str());
    std::fflush(stdout);
    if (!options.save.empty() && !name.empty()) {
      writeCase(options.save + "/" + target.name + "/" + name, input);
      writeFiles(options.save + "/" + target.name, {{name + ".problem", outcome.problem + "\n" + outcome.said}});
    }
  }

  std::vector<const Target *> shares; // each as often as it has shares
  const Options &options;
  uint64_t inputs = 0, refused = 0, failures = 0;
};

} // namespace

static Options parse(int argc, char **argv) {
  static const option known[] = {
      {"inputs", 1, nullptr, 'n'},  {"first", 1, nullptr, 'f'},  {"seed", 1, nullptr, 's'},
      {"target", 1, nullptr, 't'},  {"save", 1, nullptr, 'o'},   {"write", 1, nullptr, 'w'},
      {"seconds", 1, nullptr, 'l'}, {"memory", 1, nullptr, 'm'}, {"verbose", 0, nullptr, 'v'},
      {"help", 0, nullptr, 'h'},    {nullptr, 0, nullptr, 0}};
  Options options;
  for (int chosen; (chosen = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    uint64_t number = optarg ? std::strtoull(optarg, nullptr, 10) : 0;
    switch (chosen) {
    case 'n':
      options.inputs = number;
      break;
    case 'f':
      options.first = number;
      break;
    case 's':
      options.seed = number;
      break;
    case 't':
      options.target = optarg;
      break;
    case 'o':
      options.save = optarg;
      break;
    case 'w':
      options.write = number;
      break;
    case 'l':
      options.limits.seconds = static_cast<unsigned>(number);
      break;
    case 'm':
      options.limits.memory = number << 20;
      break;
    case 'v':
      options.verbose = true;
      break;
    default:
      std::printf(kHelp, argv[0]);
      std::exit(chosen == 'h' ? 0 : 2);
    }
  }
  return options;
}

int braid::fuzz::fuzzMain(int argc, char **argv, const std::vector<Target> &targets) {
  Options options = parse(argc, argv);
  if (options.target == "list") {
    for (const Target &target : targets)
      std::printf("%s\n", target.name);
    return 0;
  }
  Fuzzer fuzzer(targets, options);
  if (!fuzzer.hasTargets()) {
    std::fprintf(stderr, "no target '%s'; --target=list lists them\n", options.target.c_str());
    return 2;
  }
  if (options.write != ~0ull)
    fuzzer.runInput(options.write);
  else if (optind < argc)
    for (int i = optind; i < argc; ++i)
      fuzzer.runFolder(fs::absolute(argv[i]).lexically_normal());
  else
    for (uint64_t i = 0; i < options.inputs; ++i)
      fuzzer.runInput(options.first + i);
  return fuzzer.finish();
}
