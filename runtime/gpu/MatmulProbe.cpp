//===- MatmulProbe.cpp - lists the algorithms for a model's matmuls -------===//

#include "gpu/MatmulProbe.h"

#include "base/Error.h"
#include "base/NumberTypes.h"
#include "gpu/Device.h"
#include "gpu/Matmul.h"
#include "gpu/MatmulPlan.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

using namespace braid;
using Json = nlohmann::ordered_json;

namespace {

// Upper limit of algorithms to ask for.
constexpr int maxCandidates = 16;

// A group of matmuls that run alike.
struct MatmulGroup {
  int32_t first, count = 0;
  MatmulKey key;
};

std::vector<MatmulGroup> distinctMatmuls(const br_model &model) {
  std::vector<MatmulGroup> all;
  std::map<std::string, size_t> known;
  for (int32_t i = 0; i < model.n_matmuls; ++i) {
    MatmulKey key = matmulKeyOf(model.matmuls[i], model);
    const auto [same, isNew] = known.try_emplace(key.text, all.size());
    if (isNew)
      all.push_back({i, 0, std::move(key)});
    ++all[same->second].count;
  }
  return all;
}

Json describe(const MatmulGroup &group, const br_matmul_desc &d) {
  return {{"matmul", nameOfMatmul(d, group.first)},
          {"descriptors", group.count},
          {"types", concat(nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type))},
          {"multiprocessors", group.key.multiprocessors},
          {"key", group.key.text}};
}

Json describe(const MatmulCandidate &candidate, const br_matmul_desc &d) {
  Json json = {{"epilogue", candidate.epilogue}, {"algorithms", candidate.algorithms.candidates.size()}};
  if (candidate.algorithms.candidates.empty()) {
    json["refused"] = candidate.algorithms.refusal;
    return json;
  }
  const GemmAlgorithm &first = candidate.algorithms.candidates.front();
  json["first"] = describeAlgorithm(first);
  json["workspace_bytes"] = first.workspaceBytes;
  json["workspace_limit"] = d.workspace_bytes;
  json["waves"] = first.waves;
  return json;
}

// Returns the answers for one matmul; if the plan itself is refused, the refusal is the only
// answer.
std::vector<Json> ask(const br_matmul_desc &d, const MatmulGroup &group, const GemmPlace &place) {
  try {
    std::vector<Json> answers;
    MatmulPlan plan(d, group.key.multiprocessors, place, nameOfMatmul(d, group.first));
    for (const MatmulCandidate &candidate : plan.candidates(place, maxCandidates))
      answers.push_back(describe(candidate, d));
    return answers;
  } catch (const Error &failure) {
    return {{{"algorithms", 0}, {"refused", failure.what()}}};
  }
}

} // namespace

void braid::listGpuMatmuls(const br_model &model, int device) {
  Rank rank;
  rank.device = device;
  enterDevice(rank);
  const GemmLibrary library;
  const GpuStream stream;
  // The heuristic reads only the alignment of addresses, not their memory.
  const GemmPlace place = {library, stream, reinterpret_cast<void *>(uintptr_t{1} << 32)};
  for (const MatmulGroup &group : distinctMatmuls(model)) {
    const br_matmul_desc &d = model.matmuls[group.first];
    for (const Json &answer : ask(d, group, place)) {
      Json line = describe(group, d);
      line.update(answer);
      std::printf("%s\n", line.dump().c_str());
    }
    std::fflush(stdout);
  }
}
