//===- LtGemm.cpp - GEMMs of cuBLASLt -------------------------------------===//
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

#include "gpu/Gemm.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/NumberTypes.h"

#include <algorithm>
#include <bit>
#include <cublasLt.h>
#include <deque>

using namespace braid;

//===----------------------------------------------------------------------===//
// Owners of cuBLASLt's objects
//===----------------------------------------------------------------------===//

namespace braid {

// Throws Error unless `status` is success; `where` names the matmul.
static void checkLt(cublasStatus_t status, const std::string &where, const char *call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(where, ": ", call, ": ", cublasLtGetStatusString(status));
}

template <class Handle, cublasStatus_t (*destroy)(Handle)> class LtObject {
public:
  LtObject() = default;
  ~LtObject() {
    if (handle)
      destroy(handle);
  }
  LtObject(const LtObject &) = delete;
  LtObject &operator=(const LtObject &) = delete;

  operator Handle() const { return handle; }
  Handle *out() { return &handle; }

private:
  Handle handle = nullptr;
};

using LtLayout = LtObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtOperation = LtObject<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtPreference = LtObject<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T> cublasStatus_t set(const LtLayout &object, cublasLtMatrixLayoutAttribute_t name, T value) {
  return cublasLtMatrixLayoutSetAttribute(object, name, &value, sizeof value);
}
template <class T> cublasStatus_t set(const LtOperation &object, cublasLtMatmulDescAttributes_t name, T value) {
  return cublasLtMatmulDescSetAttribute(object, name, &value, sizeof value);
}
template <class T> cublasStatus_t set(const LtPreference &object, cublasLtMatmulPreferenceAttributes_t name, T value) {
  return cublasLtMatmulPreferenceSetAttribute(object, name, &value, sizeof value);
}

} // namespace braid

namespace {

// cuBLASLt's demand on the matrix with GELU's input: elements of a row.
constexpr int64_t auxMultiple = 8;

cudaDataType_t dataType(br_dtype type) { return type == BR_BF16 ? CUDA_R_16BF : CUDA_R_32F; }

static_assert(sizeof(GemmAlgorithm::words) == sizeof(cublasLtMatmulAlgo_t));
cublasLtMatmulAlgo_t nativeOf(const GemmAlgorithm &algorithm) {
  return std::bit_cast<cublasLtMatmulAlgo_t>(algorithm.words);
}
GemmAlgorithm algorithmOf(const cublasLtMatmulHeuristicResult_t &result) {
  return {std::bit_cast<decltype(GemmAlgorithm::words)>(result.algo), result.workspaceSize, result.wavesCount};
}

} // namespace

struct Gemm::Objects {
  struct Call {
    int32_t left = 0; // parts of the epilogue that it does not compute
    LtOperation operation;
  };
  LtLayout a, b, c, addend;
  // Whether the addend has the layout of the result.  Then both share one object, because the library
  // wants one if C and D are the same memory.
  bool addsLikeC = true;
  std::deque<Call> calls;

  const LtLayout &added() const { return addsLikeC ? c : addend; }
  cublasStatus_t check(const GemmPlace &place, int call, const cublasLtMatmulAlgo_t &algo,
                       cublasLtMatmulHeuristicResult_t &result) const {
    return cublasLtMatmulAlgoCheck(place.library.native(), calls[call].operation, a, b, added(), c, &algo, &result);
  }
};

const uint64_t Gemm::auxAlignment = 16;

GemmLibrary::GemmLibrary() {
  cublasLtHandle_t made = nullptr;
  checkLt(cublasLtCreate(&made), "cuBLASLt", "cublasLtCreate");
  handle = {made};
}
GemmLibrary::~GemmLibrary() { cublasLtDestroy(handle); }
uint64_t GemmLibrary::version() { return cublasLtGetVersion(); }

//===----------------------------------------------------------------------===//
// Limits of the library
//===----------------------------------------------------------------------===//

void Gemm::checkTypes() const {
  const bool ofF32 = d.a.type == BR_F32 && d.b.type == BR_F32 && d.c.type == BR_F32;
  const bool ofBF16 = d.a.type == BR_BF16 && d.b.type == BR_BF16 && (d.c.type == BR_BF16 || d.c.type == BR_F32);
  if (!ofF32 && !ofBF16)
    fail(where, ": multiplies ", nameOf(d.a.type), " by ", nameOf(d.b.type), " into ", nameOf(d.c.type),
         "; the cuda target has f32 by f32 into f32, and bf16 by bf16 into f32 or bf16");
}

void Gemm::checkEpilogue() const {
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
void Gemm::checkAux() const {
  const bool isGrad = d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD;
  if (!d.has_aux && isGrad)
    fail(where, ": the gradient of GELU needs GELU's input");
  if (!d.has_aux)
    return;
  if (!isGrad && d.epilogue != BR_EPILOGUE_GELU_TANH)
    fail(where, ": has a place for GELU's input, but no GELU");
  if (isGrad && d.has_bias)
    fail(where, ": cuBLASLt adds no bias before the gradient of GELU");
  if (!gemm.swapped || gemm.batch != 1 || countOf(gemm.loops) != 1)
    fail(where, ": keeps or reads GELU's input for a batch, or a column-major result; it is for one row-major result");
  if (d.aux_m % auxMultiple || d.aux_m < d.n)
    fail(where, ": rows of GELU's input are ", d.aux_m, " elements long; cuBLASLt wants a multiple of ", auxMultiple,
         ", at least ", d.n);
}

// Every call restarts the sum, so there may be only one call.
void Gemm::checkBiasGrad() const {
  if (d.bias_grad == BR_BIAS_GRAD_NONE)
    return;
  if (d.has_bias || d.has_aux || d.epilogue != BR_EPILOGUE_NONE)
    fail(where,
         ": sums an operand for the gradient of a bias and has another epilogue; cuBLASLt supports only one of them");
  const int64_t gemms = gemm.batch * countOf(gemm.loops) * countOf(gemm.outer);
  if (gemms != 1)
    fail(where, ": sums an operand for the gradient of a bias over ", gemms,
         " GEMMs, each of which would restart the sum; compile with --without=exec-select-bias-gradients");
}

// If several calls accumulate, only the first would read the addend.
void Gemm::checkAddend() const {
  if (!d.has_addend)
    return;
  if (const int64_t steps = countOf(gemm.outer); steps != 1)
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

Gemm::Gemm(const br_matmul_desc &desc, const ColumnMajorGemm &shape, int32_t multiprocessors, const std::string &where)
    : d(desc), gemm(shape), multiprocessors(multiprocessors), where(where), objects(std::make_unique<Objects>()) {
  checkTypes();
  checkEpilogue();
  checkAux();
  checkBiasGrad();
  checkAddend();
  const auto describe = [&](LtLayout &layout, const ColumnMatrix &matrix) {
    checkLt(cublasLtMatrixLayoutCreate(layout.out(), dataType(matrix.type), static_cast<uint64_t>(matrix.rows),
                                       static_cast<uint64_t>(matrix.columns), matrix.ld),
            where, "cublasLtMatrixLayoutCreate");
    checkLt(set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(gemm.batch)), where,
            "setting the batch count");
    checkLt(set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batchStride), where,
            "setting the batch stride");
  };
  describe(objects->a, gemm.a);
  describe(objects->b, gemm.b);
  describe(objects->c, gemm.c);
  objects->addsLikeC = gemm.addend.ld == gemm.c.ld && gemm.addend.batchStride == gemm.c.batchStride;
  if (!objects->addsLikeC)
    describe(objects->addend, gemm.addend);
}

Gemm::~Gemm() = default;

static bool addsBias(const br_matmul_desc &d, int32_t left) { return d.has_bias && !(left & BR_REST_BIAS); }
static bool sumsOperand(const br_matmul_desc &d, int32_t left) {
  return d.bias_grad != BR_BIAS_GRAD_NONE && !(left & BR_REST_BIAS_GRAD);
}
// Whether the library reads the bias or writes its gradient (hasVector); whether it writes or reads
// GELU's input (hasAux).
static bool hasVector(const br_matmul_desc &d, int32_t left) { return addsBias(d, left) || sumsOperand(d, left); }
static bool hasAux(const br_matmul_desc &d, int32_t left) { return d.has_aux && !(left & BR_REST_ACTIVATION); }

// Returns the epilogue without the parts `left`, flags of br_rest.
static cublasLtEpilogue_t epilogueOf(const br_matmul_desc &d, bool swapped, int32_t left) {
  if (sumsOperand(d, left))
    return (d.bias_grad == BR_BIAS_GRAD_A) == swapped ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA;
  const auto choose = [&](cublasLtEpilogue_t plain, cublasLtEpilogue_t biased) {
    return addsBias(d, left) ? biased : plain;
  };
  switch (left & BR_REST_ACTIVATION ? BR_EPILOGUE_NONE : d.epilogue) {
  case BR_EPILOGUE_GELU_TANH:
    return d.has_aux ? choose(CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
                     : choose(CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS);
  case BR_EPILOGUE_GELU_TANH_GRAD:
    return CUBLASLT_EPILOGUE_DGELU;
  default:
    return choose(CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS);
  }
}

void Gemm::addCall(int32_t left) {
  Objects::Call &call = objects->calls.emplace_back();
  call.left = left;
  LtOperation &operation = call.operation;
  const auto check = [&](cublasStatus_t status, const char *name) { checkLt(status, where, name); };
  check(cublasLtMatmulDescCreate(operation.out(), CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  auto transpose = [](const ColumnMatrix &m) { return static_cast<int32_t>(m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N); };
  check(set(operation, CUBLASLT_MATMUL_DESC_TRANSA, transpose(gemm.a)), "setting A's transposition");
  check(set(operation, CUBLASLT_MATMUL_DESC_TRANSB, transpose(gemm.b)), "setting B's transposition");
  check(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogueOf(d, gemm.swapped, left))),
        "setting the epilogue");
  if (multiprocessors)
    check(set(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, multiprocessors), "setting the multiprocessors");
  if (hasVector(d, left))
    check(set(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(dataType(d.c.type))),
          "setting the type of the bias");
  if (hasAux(d, left))
    check(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, d.aux_m), "setting the rows of GELU's input");
}

void Gemm::setPlaces(int number, const void *bias, const void *aux) {
  const Objects::Call &call = objects->calls[number];
  if (hasVector(d, call.left))
    checkLt(set(call.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias), where, "setting the place of the bias");
  if (hasAux(d, call.left))
    checkLt(set(call.operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux), where,
            "setting the place of GELU's input");
}

const char *Gemm::nameOfEpilogue(int call) const {
  switch (epilogueOf(d, gemm.swapped, objects->calls[call].left)) {
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

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

std::string braid::describeAlgorithm(const GemmAlgorithm &algorithm) {
  static constexpr struct {
    cublasLtMatmulAlgoConfigAttributes_t name;
    size_t bytes;
    const char *text;
  } parts[] = {{CUBLASLT_ALGO_CONFIG_ID, 4, "algorithm "},
               {CUBLASLT_ALGO_CONFIG_TILE_ID, 4, ", tile "},
               {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, ", stages "},
               {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, ", split "},
               {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, ", reduction "},
               {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, ", swizzle "},
               {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, ", option "},
               {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, ", inner shape "},
               {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, ", cluster "}};
  const cublasLtMatmulAlgo_t algo = nativeOf(algorithm);
  std::string text;
  for (const auto &part : parts) {
    uint32_t value = 0; // four bytes, or the lower two on a little-endian host
    size_t written = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoConfigGetAttribute(&algo, part.name, &value, part.bytes, &written);
    text += part.text + (status == CUBLAS_STATUS_SUCCESS ? std::to_string(value) : "?");
  }
  return text;
}

GemmAlgorithms Gemm::ask(const GemmPlace &place, int call, int alignment, int most) {
  const Objects &o = *objects;
  const auto check = [&](cublasStatus_t status, const char *name) { checkLt(status, where, name); };
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
  setPlaces(call, base + alignment % bufferAlignment, base + std::max<int>(alignment, auxAlignment) % bufferAlignment);

  std::vector<cublasLtMatmulHeuristicResult_t> results(std::max(most, 8)); // the first may not fit
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(place.library.native(), objects->calls[call].operation, o.a, o.b, o.added(), o.c,
                                     preference, static_cast<int>(results.size()), results.data(), &found);
  results.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
  GemmAlgorithms answer;
  for (const cublasLtMatmulHeuristicResult_t &result : results)
    if (result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= d.workspace_bytes &&
        answer.candidates.size() < static_cast<size_t>(most))
      answer.candidates.push_back(algorithmOf(result));
  if (!answer.candidates.empty())
    return answer;
  if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE)
    check(status, "cublasLtMatmulAlgoGetHeuristic");
  answer.refusal = status == CUBLAS_STATUS_SUCCESS ? "it offers none" : cublasLtGetStatusString(status);
  return answer;
}

template <class T> static T capabilityOf(const cublasLtMatmulAlgo_t &algo, cublasLtMatmulAlgoCapAttributes_t name) {
  T value = 0;
  size_t written = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoCapGetAttribute(&algo, name, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : T(0);
}

bool Gemm::split(const GemmPlace &place, int call, int32_t parts, GemmAlgorithm &algorithm) const {
  cublasLtMatmulHeuristicResult_t result = {};
  cublasLtMatmulAlgo_t algo = nativeOf(algorithm);
  const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  auto set = [&](cublasLtMatmulAlgoConfigAttributes_t name, const auto &value) {
    return cublasLtMatmulAlgoConfigSetAttribute(&algo, name, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  };
  const bool isSplit = capabilityOf<int32_t>(algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) &&
                       capabilityOf<uint32_t>(algo, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK) & scheme &&
                       set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) &&
                       set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, scheme);
  if (!isSplit || objects->check(place, call, algo, result) != CUBLAS_STATUS_SUCCESS)
    return false;
  result.algo = algo; // the check does not set it
  algorithm = algorithmOf(result);
  return true;
}

void Gemm::check(const GemmPlace &place, int call, const std::string &name, GemmAlgorithm &algorithm) const {
  cublasLtMatmulHeuristicResult_t result = {};
  const cublasLtMatmulAlgo_t algo = nativeOf(algorithm);
  checkLt(objects->check(place, call, algo, result), name, "cublasLtMatmulAlgoCheck");
  algorithm.workspaceBytes = result.workspaceSize;
}

int Gemm::run(const GemmPlace &place, int call, const GemmAlgorithm &algorithm, const GemmOperands &p,
              bool adds) const {
  const Objects &o = *objects;
  const float alpha = 1, beta = adds || p.addend ? 1 : 0;
  const cublasLtMatmulAlgo_t algo = nativeOf(algorithm);
  return cublasLtMatmul(place.library.native(), o.calls[call].operation, &alpha, p.a, o.a, p.b, o.b, &beta,
                        p.addend ? p.addend : p.c, o.added(), p.c, o.c, &algo, place.workspace, d.workspace_bytes,
                        place.stream.native());
}

void Gemm::checkRun(int error) const { checkLt(static_cast<cublasStatus_t>(error), where, "cublasLtMatmul"); }
