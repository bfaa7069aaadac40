//===- MatmulChoices.cpp - file of chosen matmul algorithms ---------------===//

#include "gpu/MatmulChoices.h"

#include "base/File.h"
#include "base/Json.h"
#include "gpu/Vendor.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

using namespace braid;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char *format = "braid matmul plan 1";
constexpr uint64_t maxBytes = 16 << 20;

std::string besideTheProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string() + ".matmul-plan.json";
}

//===----------------------------------------------------------------------===//
// Algorithms as text: 16 hexadecimal digits for each of their words
//===----------------------------------------------------------------------===//

constexpr size_t words = std::tuple_size_v<decltype(GemmAlgorithm::words)>, digits = 16;

std::string textOf(const GemmAlgorithm &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.words) {
    char buffer[digits + 1];
    std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(word));
    text += buffer;
  }
  return text;
}

bool parseAlgorithm(const std::string &text, GemmAlgorithm &algorithm) {
  if (text.size() != words * digits)
    return false;
  for (size_t i = 0; i < words; ++i) {
    const char *begin = text.data() + i * digits, *end = begin + digits;
    const auto [stop, error] = std::from_chars(begin, end, algorithm.words[i], 16);
    if (error != std::errc() || stop != end)
      return false;
  }
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// Agreement of ranks
//===----------------------------------------------------------------------===//

static std::string describeOrder(const Rank &rank) {
  const std::string search =
      rank.matmulSearch ? concat("--matmul-search=", *rank.matmulSearch) : std::string("no --matmul-search");
  return concat(search, rank.matmulPlan ? " and a --matmul-plan" : "");
}

MatmulChoices::MatmulChoices(const Rank &rank, MatmulPlatform platform, bool ofAllRanks, bool paysOff,
                             const AllGather &allGather)
    : isFirst(rank.isFirst()), ofAllRanks(ofAllRanks), platform(std::move(platform)),
      named(rank.matmulPlan.has_value()), isSearchRequested(rank.matmulSearch.has_value()),
      candidates(rank.matmulSearch.value_or(1)), file(rank.matmulPlan.value_or(besideTheProgram())) {
  Json own = {{"order", describeOrder(rank)}, {"pays", paysOff}};
  if (isFirst) {
    try {
      own["choices"] = ask();
    } catch (const Error &failure) {
      own["failure"] = failure.what();
    }
  }
  const std::vector<std::string> blobs = allGather(own.dump());
  const Json first = Json::parse(blobs[0]);
  for (size_t other = 0; other < blobs.size(); ++other) {
    const Json choices = Json::parse(blobs[other]);
    if (choices["order"] != first["order"])
      fail("rank 0 runs with ", first["order"].get<std::string>(), ", but rank ", other, " with ",
           choices["order"].get<std::string>(), "; start all ranks with the same options");
    if (!isSearchRequested && choices["pays"].get<bool>())
      candidates = defaultCandidates;
  }
  if (first.contains("failure")) {
    const std::string failure = first["failure"];
    if (isFirst)
      throw Error(failure);
    throw RankError("rank 0: " + failure);
  }
  text = first["choices"];
}

// Rank 0 reads the file; returns "" if there is none or it is not wanted.
std::string MatmulChoices::ask() const {
  const bool isOff = isSearchRequested && candidates <= 1;
  if (!named && isOff)
    return "";
  if (std::filesystem::is_regular_file(file))
    return readText(file, maxBytes);
  if (named && candidates <= 1)
    fail("--matmul-plan=", file,
         ": there is no such file; add --matmul-search=N to time algorithms and write it, or "
         "leave --matmul-plan out");
  return "";
}

// Returns "" for the default file: if that does not fit, the run goes on without it.
std::string MatmulChoices::advice() const {
  if (!named)
    return "";
  return "; remove the file and run with --matmul-search=N to write it anew, or leave --matmul-search and "
         "--matmul-plan out";
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string MatmulChoices::findObstacle() const {
  try {
    if (isFolder(file))
      fail("'", file, "' is a directory");
    const std::string probe = concat(file, ".", getpid(), ".tmp");
    File::createPrivate(probe);
    std::filesystem::remove(probe);
    return "";
  } catch (const Error &failure) {
    return failure.what();
  }
}

void MatmulChoices::remove() {
  std::error_code ignored; // if this fails, the file cannot be written either
  std::filesystem::remove(file, ignored);
}

// Returns the text of the file.  The first choice of a key counts, in rank order; all ranks agree
// on it.
std::string MatmulChoices::textOf(const std::vector<std::string> &blobs) const {
  Json matmuls = Json::array();
  std::set<std::string> written;
  for (const std::string &blob : blobs)
    for (const Json &matmul : Json::parse(blob))
      if (written.insert(matmul["key"]).second)
        matmuls.push_back(matmul);
  const Json plan = {
      {"format", format}, {"gpu", platform.gpu}, {vendor.gemmKey, platform.library}, {"matmuls", matmuls}};
  return plan.dump(1) + "\n";
}

std::string MatmulChoices::write(const std::vector<MatmulTrial> &trials, const AllGather &allGather) {
  Json chosen = Json::array();
  for (const MatmulTrial &trial : trials)
    chosen.push_back(
        {{"name", trial.name}, {"key", trial.key}, {"algorithm", ::textOf(trial.candidates.at(trial.chosen))}});
  const std::string found = textOf(allGather(chosen.dump()));
  Json outcome = {{"failure", ""}, {"text", found}};
  if (isFirst) {
    try {
      if (!createFile(file, found))
        outcome["text"] = readText(file, maxBytes);
    } catch (const Error &failure) {
      outcome["failure"] = concat("the matmul plan: ", failure.what(), "; name another file by --matmul-plan=FILE");
    }
  }
  const Json agreed = Json::parse(allGather(isFirst ? outcome.dump() : std::string())[0]);
  if (agreed["failure"] == "")
    text = agreed["text"], own = text == found;
  return agreed["failure"];
}

void MatmulChoices::giveTo(std::vector<MatmulTrial> &trials) const {
  const std::string where = concat("matmul plan '", file, "': ");
  auto refuse = [&](auto... reason) { fail(where, reason..., advice()); };
  const nlohmann::json plan = parseJson(text, where);
  if (!plan.is_object() || plan.value("format", nlohmann::json()) != format || !plan.contains("matmuls") ||
      !plan["matmuls"].is_array())
    refuse("it is not a matmul plan of this version");
  if (const nlohmann::json gpu = plan.value("gpu", nlohmann::json()); gpu != platform.gpu)
    refuse("it is for ", gpu.is_string() ? gpu.get<std::string>() : gpu.dump(), ", but this rank has ", platform.gpu);
  if (const nlohmann::json version = plan.value(vendor.gemmKey, nlohmann::json()); version != platform.library)
    refuse("it is for ", vendor.gemm, " ", version.dump(), ", but this rank has ", vendor.gemm, " ", platform.library);
  std::map<std::string, GemmAlgorithm> algorithms; // by key
  for (const nlohmann::json &matmul : plan["matmuls"]) {
    const bool isRight = matmul.is_object() && matmul.value("key", nlohmann::json()).is_string() &&
                         matmul.value("algorithm", nlohmann::json()).is_string();
    if (!isRight || !parseAlgorithm(matmul["algorithm"], algorithms[matmul["key"]]))
      refuse("a matmul has no key, or no algorithm of ", words * digits, " hexadecimal digits: ", matmul.dump());
  }
  for (MatmulTrial &trial : trials) {
    const auto chosen = algorithms.find(trial.key);
    if (chosen == algorithms.end())
      refuse("it is of another program: it has no algorithm for ", trial.name);
    trial.candidates = {chosen->second};
  }
  if (ofAllRanks && algorithms.size() != trials.size())
    refuse("it is of another program: it has ", algorithms.size(), " matmuls, but this program has ", trials.size());
}
