//===- MatmulPlan.cpp - plan of one matmul on a GPU -----------------------===//

#include "gpu/MatmulPlan.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/NumberTypes.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

using namespace braid;

namespace {

int64_t sizeOf(br_dtype type) { return type == BR_BF16 ? 2 : 4; }

uint64_t bits(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
uint64_t bits(int64_t elements, const ColumnMatrix &m) { return static_cast<uint64_t>(elements * sizeOf(m.type)); }

// Returns all parts of a matmul's epilogue, as flags of br_rest.
int32_t partsOfEpilogue(const br_matmul_desc &d) {
  return (d.epilogue != BR_EPILOGUE_NONE ? BR_REST_ACTIVATION : 0) | (d.has_bias ? BR_REST_BIAS : 0) |
         (d.bias_grad != BR_BIAS_GRAD_NONE ? BR_REST_BIAS_GRAD : 0);
}

// Returns the parts that each variant of the epilogue leaves to kernels (cuda/MatmulRest.h), in order of
// preference.  Only the installed library knows which it computes for some types.
std::vector<int32_t> epilogueVariants(const br_matmul_desc &d) {
  std::vector<int32_t> variants = {0};
  if (d.epilogue != BR_EPILOGUE_NONE && d.has_bias)
    variants.push_back(BR_REST_ACTIVATION);
  if (const int32_t all = partsOfEpilogue(d))
    variants.push_back(all);
  return variants;
}

// Describes the parts that are left, and the types: "GELU (bf16 by bf16 into bf16)".
std::string describeRest(int32_t left, const br_matmul_desc &d) {
  std::string text = left & BR_REST_BIAS_GRAD ? "the gradient of a bias" : left & BR_REST_BIAS ? "a bias" : "";
  if (left & BR_REST_ACTIVATION)
    text += concat(text.empty() ? "" : " and ", d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD ? "the gradient of " : "",
                   "GELU", d.epilogue == BR_EPILOGUE_GELU_TANH && d.has_aux ? " that keeps its input" : "");
  return concat(text, " (", nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type), ")");
}

} // namespace

MatmulPlan::MatmulPlan(const br_matmul_desc &desc, int32_t multiprocessors, const GemmPlace &place,
                       const std::string &where)
    : d(desc), multiprocessors(multiprocessors), where(where), gemm(desc, where),
      library(d, gemm, multiprocessors, this->where), items(countOf(gemm.loops)), steps(countOf(gemm.outer)) {
  defaultAlignment = alignmentOf({});
  for (int32_t left : epilogueVariants(d))
    variants.push_back(describeCall(left));
  last = &chooseLast(place, defaultAlignment);
  if (steps > 1) {
    plain = describeCall(partsOfEpilogue(d));
    if (!choose(place, *plain, defaultAlignment))
      failOf(*plain, defaultAlignment);
  }
}

MatmulPlan::Call MatmulPlan::describeCall(int32_t left) {
  library.addCall(left);
  return {calls++, left};
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

GemmAlgorithms &MatmulPlan::Call::algorithmsFor(int alignment) {
  return algorithms[std::countr_zero(static_cast<unsigned>(alignment))].value();
}

// Whether the library has an algorithm for operands aligned to `alignment` bytes; asks the library
// the first time.
bool MatmulPlan::choose(const GemmPlace &place, Call &call, int alignment) {
  std::optional<GemmAlgorithms> &known = call.algorithms[std::countr_zero(static_cast<unsigned>(alignment))];
  if (!known)
    known = library.ask(place, call.number, alignment, 1);
  return !known->candidates.empty();
}

// Returns the first variant for which the library has an algorithm.
MatmulPlan::Call &MatmulPlan::chooseLast(const GemmPlace &place, int alignment) {
  for (Call &call : variants)
    if (choose(place, call, alignment))
      return call;
  failOf(variants.back(), alignment);
}

void MatmulPlan::failOf(const Call &call, int alignment) const {
  fail(where, ": ", vendor.gemm, " has no algorithm for these types and strides, operands aligned to ", alignment,
       " bytes and ", formatBytes(d.workspace_bytes), " of workspace: ", call.algorithmsFor(alignment).refusal);
}

// Adds the library's candidates with their sum over k split, up to `maxCandidates` in total.  Where a result
// has few tiles and a long sum, multiprocessors would be idle, and the library offers few splits.
void MatmulPlan::addSplits(const GemmPlace &place, const Call &call, size_t maxCandidates,
                           std::vector<GemmAlgorithm> &candidates) const {
  constexpr int64_t minTerms = 512; // terms of a part
  std::set<std::string> known;
  for (const GemmAlgorithm &candidate : candidates)
    known.insert(describeAlgorithm(candidate));
  const size_t offered = candidates.size();
  for (size_t i = 0; i < offered; ++i)
    for (int32_t parts = 2; parts <= 16 && gemm.k / parts >= minTerms && candidates.size() < maxCandidates;
         parts *= 2) {
      GemmAlgorithm split = candidates[i];
      if (library.split(place, call.number, parts, split) && split.workspaceBytes <= d.workspace_bytes &&
          known.insert(describeAlgorithm(split)).second)
        candidates.push_back(split);
    }
}

std::vector<MatmulCandidate> MatmulPlan::candidates(const GemmPlace &place, int maxCandidates) {
  std::vector<MatmulCandidate> candidates;
  for (const Call &call : variants)
    candidates.push_back(
        {library.nameOfEpilogue(call.number), library.ask(place, call.number, defaultAlignment, maxCandidates)});
  return candidates;
}

std::vector<MatmulTrial> MatmulPlan::trials() const {
  MatmulTrial end, others;
  end.name = where;
  end.calls = items;
  others.name = where + ", all but its last call";
  others.calls = items * (steps - 1);
  others.isLast = false;
  return steps > 1 ? std::vector<MatmulTrial>{end, others} : std::vector<MatmulTrial>{end};
}

void MatmulPlan::time(const GemmPlace &place, int maxCandidates, MatmulScratch &scratch, ArenaRange workspace,
                      MatmulTrial &trial) {
  const Call &call = callOf(trial);
  trial.candidates = library.ask(place, call.number, defaultAlignment, maxCandidates).candidates;
  addSplits(place, call, maxCandidates, trial.candidates);
  auto bytesOf = [&](const ColumnMatrix &matrix) {
    return bits((gemm.batch - 1) * matrix.batchStride + (matrix.columns - 1) * matrix.ld + matrix.rows, matrix);
  };
  const uint64_t vector = bits(std::max(gemm.c.rows, gemm.c.columns), gemm.c); // bytes of a bias or its gradient
  const uint64_t aux = d.has_aux ? bits(gemm.c.columns * d.aux_m, gemm.c) : 0;
  const uint64_t addition = d.has_addend ? bytesOf(gemm.addend) : 0;
  const std::vector<std::byte *> places =
      scratch.place({bytesOf(gemm.a), bytesOf(gemm.b), bytesOf(gemm.c), vector, aux, addition}, workspace);
  if (places.empty())
    return;
  library.setPlaces(call.number, places[3], places[4]);
  int failure = 0;
  trial.times = timeByTurns(trial.candidates.size(), place.stream, [&](size_t i) {
    const GemmOperands operands = {places[0], places[1], places[2], d.has_addend ? places[5] : nullptr};
    const bool adds = d.accumulate || steps > (trial.isLast ? 1 : 2);
    const int error = library.run(place, call.number, trial.candidates[i], operands, adds);
    failure = error ? error : failure;
    return !error;
  });
  if (!std::isfinite(trial.times[fastestOf(trial.times)].minimum))
    library.checkRun(failure);
}

void MatmulPlan::check(const GemmPlace &place, MatmulTrial &trial) {
  const Call &call = callOf(trial);
  GemmAlgorithm &candidate = trial.candidates.front();
  library.setPlaces(call.number, place.workspace, place.workspace);
  library.check(place, call.number, trial.name, candidate);
  if (candidate.workspaceBytes > d.workspace_bytes)
    fail(trial.name, ": the algorithm works in ", formatBytes(candidate.workspaceBytes), ", but the plan has ",
         formatBytes(d.workspace_bytes), " of workspace");
}

void MatmulPlan::useChosen(const MatmulTrial &trial) {
  callOf(trial).algorithmsFor(defaultAlignment).candidates = {trial.candidates[trial.chosen]};
}

// Returns the largest power of two, up to the buffer alignment, that divides every address of a
// run.
int MatmulPlan::alignmentOf(const Pointers &p) const {
  uint64_t all = bits(p.a) | bits(p.b) | bits(p.c) | bits(p.bias) | bits(p.aux) | bits(p.addend) | bufferAlignment;
  for (const ColumnMatrix *matrix : {&gemm.a, &gemm.b, &gemm.c, &gemm.addend})
    all |= bits(matrix->batchStride, *matrix);
  for (const std::vector<ColumnLoop> *loops : {&gemm.loops, &gemm.outer})
    for (const ColumnLoop &loop : *loops)
      all |= bits(loop.a, gemm.a) | bits(loop.b, gemm.b) | bits(loop.c, gemm.c) | bits(loop.addend, gemm.addend);
  return 1 << std::countr_zero(all);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int32_t MatmulPlan::run(const GemmPlace &place, const void *ourA, const void *ourB, void *ourC, const void *bias,
                        void *aux, const void *addend) {
  if (gemm.swapped)
    std::swap(ourA, ourB);
  const Pointers base = {static_cast<const char *>(ourA), static_cast<const char *>(ourB),
                         static_cast<char *>(ourC),       d.has_bias || d.bias_grad ? bias : nullptr,
                         d.has_aux ? aux : nullptr,       static_cast<const char *>(d.has_addend ? addend : nullptr)};
  if (bits(base.aux) % Gemm::auxAlignment)
    fail(where, ": GELU's input is not aligned to ", Gemm::auxAlignment, " bytes, as ", vendor.gemm, " requires");
  const int64_t size = sizeOf(gemm.a.type), sizeC = sizeOf(gemm.c.type);
  const int alignment = alignmentOf(base);
  const Call &lastCall = chooseLast(place, alignment);
  if (steps > 1 && !choose(place, *plain, alignment))
    failOf(*plain, alignment);
  library.setPlaces(lastCall.number, bias, aux);
  for (int64_t item = 0; item < items; ++item) {
    const ColumnOffsets at = offsetsOf(gemm.loops, item);
    for (int64_t step = 0; step < steps; ++step) {
      const ColumnOffsets part = offsetsOf(gemm.outer, step);
      const GemmOperands operands = {base.a + (at.a + part.a) * size, base.b + (at.b + part.b) * size,
                                     base.c + at.c * sizeC, base.addend ? base.addend + at.addend * sizeC : nullptr};
      const Call &call = step + 1 == steps ? lastCall : *plain;
      const GemmAlgorithm &algorithm = call.algorithmsFor(alignment).candidates.front();
      library.checkRun(library.run(place, call.number, algorithm, operands, step > 0 || d.accumulate));
    }
  }
  return lastCall.left;
}

std::string MatmulPlan::describe() const {
  return concat("batch ", gemm.batch, " in ", items * steps, items * steps == 1 ? " call, " : " calls, ",
                formatBytes(last->algorithmsFor(defaultAlignment).candidates.front().workspaceBytes), " of workspace",
                multiprocessors ? concat(", for ", multiprocessors, " multiprocessors") : "");
}

std::string MatmulPlan::describeFallbacks() const {
  if (!last->left)
    return "";
  return concat(describeRest(last->left, d), ": ", variants.front().algorithmsFor(defaultAlignment).refusal);
}
