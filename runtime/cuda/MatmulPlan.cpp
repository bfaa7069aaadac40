//===- MatmulPlan.cpp - plan of one matmul on a GPU -----------------------===//
//
// The calls and attributes of cuBLASLt in use, which a stand-in for it must provide:
//
//   cublasLtCreate, Destroy, GetStatusString, GetVersion
//   cublasLtMatmulDescCreate (COMPUTE_32F, scale R_32F), Destroy, SetAttribute of
//     TRANSA, TRANSB (int32), EPILOGUE (uint32), BIAS_POINTER (pointer),
//     BIAS_DATA_TYPE (int32), EPILOGUE_AUX_POINTER (pointer), EPILOGUE_AUX_LD (int64),
//     SM_COUNT_TARGET (int32)
//   cublasLtMatrixLayoutCreate (R_32F, R_16BF; column-major), Destroy, SetAttribute of
//     BATCH_COUNT (int32), STRIDED_BATCH_OFFSET (int64; 0 for an operand that all share)
//   cublasLtMatmulPreferenceCreate, Destroy, SetAttribute of MAX_WORKSPACE_BYTES
//     (uint64), MIN_ALIGNMENT_{A,B,C,D}_BYTES (uint32), REDUCTION_SCHEME_MASK (uint32)
//   cublasLtMatmulAlgoGetHeuristic, AlgoCheck, ConfigGetAttribute, and for a search CapGetAttribute of
//     SPLITK_SUPPORT (int32), REDUCTION_SCHEME_MASK (uint32); ConfigSetAttribute of SPLITK_NUM (int32),
//     REDUCTION_SCHEME (uint32)
//   cublasLtMatmul with alpha 1 and beta 0 or 1; C and D share memory and layout, or with beta 1 are separate
//   epilogues DEFAULT, and where the library has them BIAS, GELU (the tanh form), GELU_BIAS,
//     and for training GELU_AUX, GELU_AUX_BIAS, DGELU; BGRADA and BGRADB, whose sum overwrites
//     the old value, while D may accumulate
//   types A, B -> D: f32, f32 -> f32; bf16, bf16 -> f32 or bf16; bias, its gradient and aux
//     have D's type
//
//===----------------------------------------------------------------------===//

#include "cuda/MatmulPlan.h"

#include "base/Format.h"
#include "base/NumberTypes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

using namespace braid;

namespace {

// Alignment of arena buffers in bytes, the strictest that the library asks for.
constexpr int bufferAlignment = 256;

// cuBLASLt's demands on the matrix with GELU's input: elements of a row, and alignment in bytes.
constexpr int64_t auxMultiple = 8;
constexpr int auxAlignment = 16;

cudaDataType_t dataType(br_dtype type) { return type == BR_BF16 ? CUDA_R_16BF : CUDA_R_32F; }
int64_t sizeOf(br_dtype type) { return type == BR_BF16 ? 2 : 4; }

uint64_t bits(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
uint64_t bits(int64_t elements, const ColumnMatrix &m) { return static_cast<uint64_t>(elements * sizeOf(m.type)); }

} // namespace

CudaMatmulPlan::CudaMatmulPlan(const br_matmul_desc &desc, int32_t multiprocessors, const Place &place,
                               const std::string &where)
    : d(desc), multiprocessors(multiprocessors), where(where), gemm(desc, where), items(countOf(gemm.loops)),
      steps(countOf(gemm.outer)) {
  checkTypes();
  checkEpilogue();
  checkAux();
  checkBiasGrad();
  checkAddend();
  describeMatrix(a, gemm.a);
  describeMatrix(b, gemm.b);
  describeMatrix(c, gemm.c);
  if (!addsLikeC())
    describeMatrix(addend, gemm.addend);
  defaultAlignment = alignmentOf({});
  for (const EpilogueVariant &variant : epilogueVariants(d, gemm.swapped))
    variants.push_back(describeCall(variant));
  last = &chooseLast(place, defaultAlignment);
  if (steps > 1) {
    plain = describeCall({});
    if (!choose(place, *plain, defaultAlignment))
      failOf(*plain, defaultAlignment);
  }
}

//===----------------------------------------------------------------------===//
// Limits of the library
//===----------------------------------------------------------------------===//

void CudaMatmulPlan::checkTypes() const {
  const bool ofF32 = d.a.type == BR_F32 && d.b.type == BR_F32 && d.c.type == BR_F32;
  const bool ofBF16 = d.a.type == BR_BF16 && d.b.type == BR_BF16 && (d.c.type == BR_BF16 || d.c.type == BR_F32);
  if (!ofF32 && !ofBF16)
    fail(where, ": multiplies ", nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type),
         "; the cuda target has f32 by f32 into f32, and bf16 by bf16 into f32 or bf16");
}

void CudaMatmulPlan::checkEpilogue() const {
  if (d.has_bias && d.bias_type != d.c.type)
    fail(where, ": adds a bias of ", nameOf(d.bias_type), " to a result of ", nameOf(d.c.type),
         "; cuBLASLt's bias has the result's type");
  if (d.has_bias && !gemm.swapped)
    fail(where, ": adds a bias to the columns of a column-major result; cuBLASLt adds a bias only to its rows");
  if (d.epilogue == BR_EPILOGUE_SILU || d.epilogue == BR_EPILOGUE_GELU_ERF)
    fail(where, ": ends in ", d.epilogue == BR_EPILOGUE_SILU ? "SiLU" : "GELU by erf",
         "; the only GELU of cuBLASLt is GELU by tanh");
  // The library applies the activation to the old value as well.
  if (d.accumulate && d.epilogue != BR_EPILOGUE_NONE)
    fail(where, ": an activation cannot be combined with accumulate; split it off");
}

// Checks GELU's input, which the matmul writes or reads.
void CudaMatmulPlan::checkAux() const {
  const bool isGrad = d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD;
  if (!d.has_aux && isGrad)
    fail(where, ": the gradient of GELU needs GELU's input");
  if (!d.has_aux)
    return;
  if (!isGrad && d.epilogue != BR_EPILOGUE_GELU_TANH)
    fail(where, ": has a place for GELU's input, but no GELU");
  if (isGrad && d.has_bias)
    fail(where, ": cuBLASLt adds no bias before the gradient of GELU");
  if (!gemm.swapped || gemm.batch != 1 || items != 1)
    fail(where, ": keeps or reads GELU's input for a batch, or a column-major result; it is for one row-major result");
  if (d.aux_m % auxMultiple || d.aux_m < d.n)
    fail(where, ": rows of GELU's input are ", d.aux_m, " elements long; cuBLASLt wants a multiple of ", auxMultiple,
         ", at least ", d.n);
}

// Every call restarts the sum, so there may be only one call.
void CudaMatmulPlan::checkBiasGrad() const {
  if (d.bias_grad == BR_BIAS_GRAD_NONE)
    return;
  if (d.has_bias || d.has_aux || d.epilogue != BR_EPILOGUE_NONE)
    fail(where,
         ": sums an operand for the gradient of a bias and has another epilogue; cuBLASLt supports only one of them");
  const int64_t gemms = gemm.batch * items * steps;
  if (gemms != 1)
    fail(where, ": sums an operand for the gradient of a bias over ", gemms,
         " GEMMs, each of which would restart the sum; compile with --without=exec-select-bias-gradients");
}

// If several calls accumulate, only the first would read the addend.
void CudaMatmulPlan::checkAddend() const {
  if (!d.has_addend)
    return;
  if (steps != 1)
    fail(where, ": adds a tensor to ", steps, " GEMMs that add up; split the sum off");
  if (d.accumulate || d.bias_grad != BR_BIAS_GRAD_NONE || d.epilogue != BR_EPILOGUE_NONE)
    fail(where, ": adds a tensor and accumulates, or has another epilogue than a bias; split the sum off");
  if (d.addend.type != d.c.type)
    fail(where, ": adds a tensor of ", nameOf(d.addend.type), " to a result of ", nameOf(d.c.type),
         "; cuBLASLt's C has the type of its D");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

void CudaMatmulPlan::describeMatrix(LtLayout &layout, const ColumnMatrix &matrix) {
  check(cublasLtMatrixLayoutCreate(layout.out(), dataType(matrix.type), static_cast<uint64_t>(matrix.rows),
                                   static_cast<uint64_t>(matrix.columns), matrix.ld),
        "cublasLtMatrixLayoutCreate");
  check(set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(gemm.batch)), "setting the batch count");
  check(set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batchStride), "setting the batch stride");
}

std::unique_ptr<CudaMatmulPlan::Call> CudaMatmulPlan::describeCall(const EpilogueVariant &variant) {
  auto call = std::make_unique<Call>();
  call->variant = variant;
  LtOperation &operation = call->operation;
  check(cublasLtMatmulDescCreate(operation.out(), CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  auto transpose = [](const ColumnMatrix &m) { return static_cast<int32_t>(m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N); };
  check(set(operation, CUBLASLT_MATMUL_DESC_TRANSA, transpose(gemm.a)), "setting A's transposition");
  check(set(operation, CUBLASLT_MATMUL_DESC_TRANSB, transpose(gemm.b)), "setting B's transposition");
  check(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(variant.epilogue)), "setting the epilogue");
  if (multiprocessors)
    check(set(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, multiprocessors), "setting the multiprocessors");
  if (variant.hasVector(d))
    check(set(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(dataType(d.c.type))),
          "setting the type of the bias");
  if (variant.hasAux(d))
    check(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, d.aux_m), "setting the rows of GELU's input");
  return call;
}

// Sets the addresses of the bias or its gradient, and of GELU's input.
void CudaMatmulPlan::setPlaces(const Call &call, const void *bias, const void *aux) {
  if (call.variant.hasVector(d))
    check(set(call.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias), "setting the place of the bias");
  if (call.variant.hasAux(d))
    check(set(call.operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux), "setting the place of GELU's input");
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

MatmulAlgorithms &CudaMatmulPlan::Call::algorithmsFor(int alignment) {
  return algorithms[std::countr_zero(static_cast<unsigned>(alignment))].value();
}

// Whether the library has an algorithm for operands aligned to `alignment` bytes; asks the library
// the first time.
bool CudaMatmulPlan::choose(const Place &place, Call &call, int alignment) {
  std::optional<MatmulAlgorithms> &known = call.algorithms[std::countr_zero(static_cast<unsigned>(alignment))];
  if (!known)
    known = ask(place, call, alignment, 1);
  return !known->candidates.empty();
}

// Returns the first variant for which the library has an algorithm.
CudaMatmulPlan::Call &CudaMatmulPlan::chooseLast(const Place &place, int alignment) {
  for (const std::unique_ptr<Call> &call : variants)
    if (choose(place, *call, alignment))
      return *call;
  failOf(*variants.back(), alignment);
}

void CudaMatmulPlan::failOf(const Call &call, int alignment) const {
  fail(where, ": cuBLASLt has no algorithm for these types and strides, operands aligned to ", alignment, " bytes and ",
       formatBytes(d.workspace_bytes), " of workspace: ", call.algorithmsFor(alignment).refusal);
}

// Returns at most `maxCandidates` algorithms that fit the workspace; the library's fastest guess comes
// first.
MatmulAlgorithms CudaMatmulPlan::ask(const Place &place, const Call &call, int alignment, int maxCandidates) {
  LtPreference preference;
  check(cublasLtMatmulPreferenceCreate(preference.out()), "cublasLtMatmulPreferenceCreate");
  check(set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, d.workspace_bytes), "setting the workspace");
  for (auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    check(set(preference, name, static_cast<uint32_t>(alignment)), "setting the alignment");
  // Partial sums are added in f32, never in the result's bf16.
  check(set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
            static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)),
        "setting the reduction scheme");
  const char *base = static_cast<const char *>(place.workspace); // its address tells the library the alignment
  setPlaces(call, base + alignment % bufferAlignment, base + std::max(alignment, auxAlignment) % bufferAlignment);

  Candidates results(std::max(maxCandidates, 8)); // the first may not fit
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(place.library, call.operation, a, b, added(), c, preference,
                                     static_cast<int>(results.size()), results.data(), &found);
  results.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
  std::erase_if(results, [&](const cublasLtMatmulHeuristicResult_t &result) {
    return result.state != CUBLAS_STATUS_SUCCESS || result.workspaceSize > d.workspace_bytes;
  });
  results.resize(std::min<size_t>(results.size(), maxCandidates));
  if (!results.empty())
    return {results, ""};
  if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE)
    check(status, "cublasLtMatmulAlgoGetHeuristic");
  return {{}, status == CUBLAS_STATUS_SUCCESS ? "it offers none" : cublasLtGetStatusString(status)};
}

template <class T> static T capabilityOf(const cublasLtMatmulAlgo_t &algo, cublasLtMatmulAlgoCapAttributes_t name) {
  T value = 0;
  size_t written = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoCapGetAttribute(&algo, name, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : T(0);
}

// Splits the algorithm's sum over k into parts, added in f32 and in a fixed order.  Returns whether
// it can.
static bool split(cublasLtMatmulAlgo_t &algo, int32_t parts) {
  const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  auto set = [&](cublasLtMatmulAlgoConfigAttributes_t name, const auto &value) {
    return cublasLtMatmulAlgoConfigSetAttribute(&algo, name, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  };
  return capabilityOf<int32_t>(algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) &&
         capabilityOf<uint32_t>(algo, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK) & scheme &&
         set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) && set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, scheme);
}

// Adds the library's candidates with their sum over k split, up to `maxCandidates` in total.  Where a result
// has few tiles and a long sum, multiprocessors would be idle, and the library offers few splits.
void CudaMatmulPlan::addSplits(const Place &place, const Call &call, size_t maxCandidates,
                               Candidates &candidates) const {
  constexpr int64_t minTerms = 512; // terms of a part
  std::set<std::string> known;
  for (const cublasLtMatmulHeuristicResult_t &candidate : candidates)
    known.insert(describeAlgorithm(candidate.algo));
  const size_t offered = candidates.size();
  for (size_t i = 0; i < offered; ++i)
    for (int32_t parts = 2; parts <= 16 && gemm.k / parts >= minTerms && candidates.size() < maxCandidates;
         parts *= 2) {
      cublasLtMatmulHeuristicResult_t splitCandidate = {};
      cublasLtMatmulAlgo_t algo = candidates[i].algo;
      if (!split(algo, parts) || cublasLtMatmulAlgoCheck(place.library, call.operation, a, b, added(), c, &algo,
                                                         &splitCandidate) != CUBLAS_STATUS_SUCCESS)
        continue;
      splitCandidate.algo = algo; // the check does not set it
      if (splitCandidate.workspaceSize <= d.workspace_bytes && known.insert(describeAlgorithm(algo)).second)
        candidates.push_back(splitCandidate);
    }
}

std::vector<MatmulCandidate> CudaMatmulPlan::candidates(const Place &place, int maxCandidates) {
  std::vector<MatmulCandidate> candidates;
  for (const std::unique_ptr<Call> &call : variants)
    candidates.push_back({call->variant, ask(place, *call, defaultAlignment, maxCandidates)});
  return candidates;
}

std::vector<MatmulTrial> CudaMatmulPlan::calls() const {
  MatmulTrial end, others;
  end.name = where;
  end.calls = items;
  others.name = where + ", all but its last call";
  others.calls = items * (steps - 1);
  others.isLast = false;
  return steps > 1 ? std::vector<MatmulTrial>{end, others} : std::vector<MatmulTrial>{end};
}

void CudaMatmulPlan::time(const Place &place, int maxCandidates, MatmulScratch &scratch, ArenaRange workspace,
                          MatmulTrial &trial) {
  const Call &call = callOf(trial);
  trial.candidates = ask(place, call, defaultAlignment, maxCandidates).candidates;
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
  setPlaces(call, places[3], places[4]);
  auto at = [&](int i) { return reinterpret_cast<char *>(places[i]); };
  cublasStatus_t failure = CUBLAS_STATUS_SUCCESS;
  trial.times = timeByTurns(trial.candidates.size(), place.stream, [&](size_t i) {
    const Pointers pointers = {at(0), at(1), at(2), nullptr, nullptr, d.has_addend ? at(5) : nullptr};
    const bool adds = d.accumulate || steps > (trial.isLast ? 1 : 2);
    const cublasStatus_t status = multiply(place, call, &trial.candidates[i].algo, pointers, adds);
    failure = status == CUBLAS_STATUS_SUCCESS ? failure : status;
    return status == CUBLAS_STATUS_SUCCESS;
  });
  if (!std::isfinite(trial.times[fastestOf(trial.times)].minimum))
    check(failure, "cublasLtMatmul");
}

void CudaMatmulPlan::check(const Place &place, MatmulTrial &trial) {
  const Call &call = callOf(trial);
  setPlaces(call, place.workspace, place.workspace);
  cublasLtMatmulHeuristicResult_t &candidate = trial.candidates.front(), result = {};
  checkLt(cublasLtMatmulAlgoCheck(place.library, call.operation, a, b, added(), c, &candidate.algo, &result),
          trial.name, "cublasLtMatmulAlgoCheck");
  if (result.workspaceSize > d.workspace_bytes)
    fail(trial.name, ": the algorithm works in ", formatBytes(result.workspaceSize), ", but the plan has ",
         formatBytes(d.workspace_bytes), " of workspace");
  candidate.workspaceSize = result.workspaceSize;
}

void CudaMatmulPlan::useChosen(const MatmulTrial &trial) {
  callOf(trial).algorithmsFor(defaultAlignment).candidates = {trial.candidates[trial.chosen]};
}

// Returns the largest power of two, up to the buffer alignment, that divides every address of a
// run.
int CudaMatmulPlan::alignmentOf(const Pointers &p) const {
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

int32_t CudaMatmulPlan::run(const Place &place, const void *ourA, const void *ourB, void *ourC, const void *bias,
                            void *aux, const void *addend) {
  if (gemm.swapped)
    std::swap(ourA, ourB);
  const Pointers base = {static_cast<const char *>(ourA), static_cast<const char *>(ourB),
                         static_cast<char *>(ourC),       d.has_bias || d.bias_grad ? bias : nullptr,
                         d.has_aux ? aux : nullptr,       static_cast<const char *>(d.has_addend ? addend : nullptr)};
  if (bits(base.aux) % auxAlignment)
    fail(where, ": GELU's input is not aligned to ", auxAlignment, " bytes, as cuBLASLt requires");
  const int64_t size = sizeOf(gemm.a.type), sizeC = sizeOf(gemm.c.type);
  const int alignment = alignmentOf(base);
  const Call &lastCall = chooseLast(place, alignment);
  if (steps > 1 && !choose(place, *plain, alignment))
    failOf(*plain, alignment);
  setPlaces(lastCall, bias, aux);
  for (int64_t item = 0; item < items; ++item) {
    const ColumnOffsets at = offsetsOf(gemm.loops, item);
    for (int64_t step = 0; step < steps; ++step) {
      const ColumnOffsets part = offsetsOf(gemm.outer, step);
      const Pointers p = {base.a + (at.a + part.a) * size,
                          base.b + (at.b + part.b) * size,
                          base.c + at.c * sizeC,
                          base.bias,
                          base.aux,
                          base.addend ? base.addend + at.addend * sizeC : nullptr};
      const Call &call = step + 1 == steps ? lastCall : *plain;
      const cublasLtMatmulAlgo_t &algorithm = call.algorithmsFor(alignment).candidates.front().algo;
      check(multiply(place, call, &algorithm, p, step > 0 || d.accumulate), "cublasLtMatmul");
    }
  }
  return lastCall.variant.left;
}

cublasStatus_t CudaMatmulPlan::multiply(const Place &place, const Call &call, const cublasLtMatmulAlgo_t *algorithm,
                                        const Pointers &p, bool adds) const {
  const float alpha = 1, beta = adds || p.addend ? 1 : 0;
  return cublasLtMatmul(place.library, call.operation, &alpha, p.a, a, p.b, b, &beta, p.addend ? p.addend : p.c,
                        added(), p.c, c, algorithm, place.workspace, d.workspace_bytes, place.stream);
}

std::string CudaMatmulPlan::describe() const {
  return concat("batch ", gemm.batch, " in ", items * steps, items * steps == 1 ? " call, " : " calls, ",
                formatBytes(last->algorithmsFor(defaultAlignment).candidates.front().workspaceSize), " of workspace",
                multiprocessors ? concat(", for ", multiprocessors, " multiprocessors") : "");
}

std::string CudaMatmulPlan::describeFallbacks() const {
  if (!last->variant.left)
    return "";
  return concat(describeRest(last->variant, d), ": ", variants.front()->algorithmsFor(defaultAlignment).refusal);
}
