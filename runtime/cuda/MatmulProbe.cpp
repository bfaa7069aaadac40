//===- MatmulProbe.cpp - lists cuBLASLt's algorithms for a model ----------===//

#include "cuda/MatmulProbe.h"

#include "base/NumberTypes.h"
#include "cuda/Device.h"
#include "cuda/Matmul.h"
#include "cuda/MatmulPlan.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

using namespace braid;
using Json = nlohmann::ordered_json;

namespace {

// Upper limit of algorithms to ask for.
constexpr int most = 16;

const char *nameOfEpilogue(cublasLtEpilogue_t epilogue) {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
    return "none";
  case CUBLASLT_EPILOGUE_BIAS:
    return "BIAS";
  case CUBLASLT_EPILOGUE_GELU:
    return "GELU";
  case CUBLASLT_EPILOGUE_GELU_BIAS:
    return "GELU_BIAS";
  case CUBLASLT_EPILOGUE_GELU_AUX:
    return "GELU_AUX";
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    return "GELU_AUX_BIAS";
  case CUBLASLT_EPILOGUE_DGELU:
    return "DGELU";
  case CUBLASLT_EPILOGUE_BGRADA:
    return "BGRADA";
  case CUBLASLT_EPILOGUE_BGRADB:
    return "BGRADB";
  default:
    return "?";
  }
}

// A group of matmuls that run alike.
struct Alike {
  int32_t first, count = 0;
  MatmulKey key;
};

std::vector<Alike> distinctMatmuls(const br_model &model) {
  std::vector<Alike> all;
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

Json describe(const Alike &alike, const br_matmul_desc &d) {
  return {{"matmul", nameOfMatmul(d, alike.first)},
          {"descriptors", alike.count},
          {"types", concat(nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type))},
          {"multiprocessors", alike.key.multiprocessors},
          {"key", alike.key.text}};
}

Json describe(const MatmulOffer &offer, const br_matmul_desc &d) {
  Json json = {{"epilogue", nameOfEpilogue(offer.way.epilogue)}, {"algorithms", offer.algorithms.candidates.size()}};
  if (offer.algorithms.candidates.empty()) {
    json["refused"] = offer.algorithms.refusal;
    return json;
  }
  const cublasLtMatmulHeuristicResult_t &first = offer.algorithms.candidates.front();
  json["first"] = describeAlgorithm(first.algo);
  json["workspace_bytes"] = first.workspaceSize;
  json["workspace_limit"] = d.workspace_bytes;
  json["waves"] = first.wavesCount;
  return json;
}

// Returns the answers for one matmul; if the plan itself is refused, the refusal is the only
// answer.
std::vector<Json> ask(const br_matmul_desc &d, const Alike &alike, const CudaMatmulPlan::Place &place) {
  try {
    std::vector<Json> answers;
    CudaMatmulPlan plan(d, alike.key.multiprocessors, place, nameOfMatmul(d, alike.first));
    for (const MatmulOffer &offer : plan.offers(place, most))
      answers.push_back(describe(offer, d));
    return answers;
  } catch (const Error &failure) {
    return {{{"algorithms", 0}, {"refused", failure.what()}}};
  }
}

} // namespace

void braid::listMatmulsOfCuda(const br_model &model, int device) {
  Rank rank;
  rank.device = device;
  enterDevice(rank);
  LtLibrary library;
  checkLt(cublasLtCreate(library.out()), "cuBLASLt", "cublasLtCreate");
  // The heuristic reads only the alignment of addresses, not their memory.
  const CudaMatmulPlan::Place place = {library, nullptr, reinterpret_cast<void *>(uintptr_t{1} << 32)};
  for (const Alike &alike : distinctMatmuls(model)) {
    const br_matmul_desc &d = model.matmuls[alike.first];
    for (const Json &answer : ask(d, alike, place)) {
      Json line = describe(alike, d);
      line.update(answer);
      std::printf("%s\n", line.dump().c_str());
    }
    std::fflush(stdout);
  }
}
