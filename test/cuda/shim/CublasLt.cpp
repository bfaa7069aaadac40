//===- CublasLt.cpp - descriptors, and the rules of the library -----------===//
#include "Failures.h"
#include "LtAlgorithms.h"
#include "LtMatmul.h"
#include "Queues.h"
#include "Violation.h"

#include <bit>
#include <cstring>

using namespace shim;

struct cublasLtContext {};

struct cublasLtMatmulPreferenceShim {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

// The heuristic's data about an algorithm, in cublasLtMatmulAlgo_t.
struct Promise {
  uint32_t magic;
  uint32_t alignment[4];
  uint64_t workspace;
  uint32_t number; // of those that were offered
  uint32_t microseconds, splitMicroseconds;
  bool fails;
  int32_t splits; // parts of the sum over k
  uint32_t reduction;

  // Sums of parts are in the workspace, in f32.
  uint64_t workspaceFor(const cublasLtMatrixLayoutShim &d) const {
    return workspace + (splits > 1 ? uint64_t(splits) * d.rows * d.columns * d.batch * sizeof(float) : 0);
  }
  bool isRight() const {
    return splits == 1 ? reduction == CUBLASLT_REDUCTION_SCHEME_NONE
                       : splitMicroseconds && reduction == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  }
};
static_assert(sizeof(Promise) <= sizeof(cublasLtMatmulAlgo_t));
constexpr uint32_t magic = 0xb1a5;

Promise promiseOf(const cublasLtMatmulAlgo_t &algo) {
  Promise promise;
  std::memcpy(&promise, &algo, sizeof(promise));
  return promise;
}

template <class T> cublasStatus_t take(T &to, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool areTypesKnown(cudaDataType a, cudaDataType b, cudaDataType c) {
  return (a == CUDA_R_32F && b == CUDA_R_32F && c == CUDA_R_32F) ||
         (a == CUDA_R_16BF && b == CUDA_R_16BF && (c == CUDA_R_16BF || c == CUDA_R_32F));
}

int multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

bool isLayoutRight(const cublasLtMatrixLayoutShim &layout, const cublasLtMatrixLayoutShim &d) {
  return layout.rows > 0 && layout.columns > 0 && layout.ld >= layout.rows && layout.batch == d.batch;
}

cublasStatus_t checkMatmul(const cublasLtMatmulDescShim &desc, const cublasLtMatrixLayoutShim &a,
                           const cublasLtMatrixLayoutShim &b, const cublasLtMatrixLayoutShim &c,
                           const cublasLtMatrixLayoutShim &d) {
  bool ta = desc.transA != CUBLAS_OP_N, tb = desc.transB != CUBLAS_OP_N;
  int64_t m = ta ? a.columns : a.rows, k = ta ? a.rows : a.columns, n = tb ? b.rows : b.columns;
  if (!isLayoutRight(a, d) || !isLayoutRight(b, d) || !isLayoutRight(c, d) || !isLayoutRight(d, d) ||
      (tb ? b.columns : b.rows) != k || d.rows != m || d.columns != n || c.rows != m || c.columns != n ||
      c.type != d.type)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (d.batch > 1 && d.stride < d.ld * (d.columns - 1) + d.rows && d.ld < d.rows * d.batch)
    return CUBLAS_STATUS_INVALID_VALUE; // results would lie in one another
  if (desc.multiprocessors < 0 || desc.multiprocessors > multiprocessors())
    return CUBLAS_STATUS_INVALID_VALUE;
  bool hasAux = desc.epilogue & 128, hasBias = desc.epilogue & CUBLASLT_EPILOGUE_BIAS;
  if (hasAux && (!desc.aux || desc.auxLd < m || desc.auxLd % 8 || reinterpret_cast<uintptr_t>(desc.aux) % 16))
    return CUBLAS_STATUS_INVALID_VALUE;
  // The bias gradient has one place for all matmuls of a batch.
  bool sums = desc.epilogue & (CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB);
  if (sums && (desc.epilogue & (desc.epilogue - 1) || d.batch != 1))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((hasBias || sums) && (!desc.bias || (desc.biasType >= 0 && desc.biasType != d.type)))
    return CUBLAS_STATUS_INVALID_VALUE;
  return areTypesKnown(a.type, b.type, d.type) && !isRefused(desc.epilogue, d.type) ? CUBLAS_STATUS_SUCCESS
                                                                                    : CUBLAS_STATUS_NOT_SUPPORTED;
}

bool isAligned(const void *pointer, size_t alignment) { return reinterpret_cast<uintptr_t>(pointer) % alignment == 0; }

cublasStatus_t failureOfLt(const char *call) {
  return injectedFailure(call).empty() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
#define FAIL_IF_TOLD_LT(call)                                                                                          \
  if (cublasStatus_t status = failureOfLt(#call))                                                                      \
  return status

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  FAIL_IF_TOLD_LT(cublasLtCreate);
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

const char *cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
#define NAME(status)                                                                                                   \
  case status:                                                                                                         \
    return #status;
    NAME(CUBLAS_STATUS_SUCCESS)
    NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    NAME(CUBLAS_STATUS_ALLOC_FAILED)
    NAME(CUBLAS_STATUS_INVALID_VALUE)
    NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    NAME(CUBLAS_STATUS_MAPPING_ERROR)
    NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    NAME(CUBLAS_STATUS_LICENSE_ERROR)
  }
  return "unknown status";
}
const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  *layout = new cublasLtMatrixLayoutShim{type, int64_t(rows), int64_t(columns), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes) {
  return name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? take(layout->batch, value, bytes)
                                                    : take(layout->stride, value, bytes);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale) {
  if (scale != CUDA_R_32F || (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_FAST_TF32))
    return CUBLAS_STATUS_INVALID_VALUE;
  *desc = new cublasLtMatmulDescShim;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes) {
  switch (name) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return take(desc->transA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return take(desc->transB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return take(desc->epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return take(desc->bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return take(desc->biasType, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return take(desc->aux, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return take(desc->auxLd, value, bytes);
  case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
    return take(desc->multiprocessors, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
    break;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = new cublasLtMatmulPreferenceShim;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void *value,
                                                    size_t bytes) {
  if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return take(preference->workspace, value, bytes);
  uint32_t mask;
  if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    return take(mask, value, bytes);
  return take(preference->alignment[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results, int *found) {
  *found = 0;
  FAIL_IF_TOLD_LT(cublasLtMatmulAlgoGetHeuristic);
  if (!handle || wanted < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (cublasStatus_t status = checkMatmul(*desc, *a, *b, *c, *d))
    return status;
  uint32_t number = 0;
  for (const LtAlgorithm &offered : offeredAlgorithms()) {
    const uint32_t own = number++;
    if (*found == wanted || offered.workspace > preference->workspace)
      continue;
    cublasLtMatmulHeuristicResult_t &result = results[(*found)++];
    result = {};
    Promise promise{magic,
                    {},
                    offered.workspace,
                    own,
                    offered.microseconds,
                    offered.splitMicroseconds,
                    offered.fails,
                    1,
                    CUBLASLT_REDUCTION_SCHEME_NONE};
    std::memcpy(promise.alignment, preference->alignment, sizeof(promise.alignment));
    std::memcpy(&result.algo, &promise, sizeof(promise));
    result.workspaceSize = offered.workspace;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result) {
  FAIL_IF_TOLD_LT(cublasLtMatmulAlgoCheck);
  if (cublasStatus_t status = checkMatmul(*desc, *a, *b, *c, *d); status || !handle)
    return status ? status : CUBLAS_STATUS_INVALID_VALUE;
  Promise promise = promiseOf(*algo);
  if (promise.magic != magic)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!promise.isRight())
    return CUBLAS_STATUS_NOT_SUPPORTED;
  result->workspaceSize = promise.workspaceFor(*d);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                 cublasLtMatmulAlgoCapAttributes_t name, void *value, size_t bytes,
                                                 size_t *written) {
  if (bytes != sizeof(uint32_t))
    return CUBLAS_STATUS_INVALID_VALUE;
  Promise promise = promiseOf(*algo);
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const uint32_t found = name == CUBLASLT_ALGO_CAP_SPLITK_SUPPORT ? promise.splitMicroseconds != 0 : schemes;
  std::memcpy(value, &found, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t name, const void *value,
                                                    size_t bytes) {
  Promise promise = promiseOf(*algo);
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (name == CUBLASLT_ALGO_CONFIG_SPLITK_NUM)
    status = take(promise.splits, value, bytes);
  if (name == CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)
    status = take(promise.reduction, value, bytes);
  std::memcpy(algo, &promise, sizeof(promise));
  return status;
}

// An algorithm is its number, and the parts of the sum over k.
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t name, void *value,
                                                    size_t bytes, size_t *written) {
  const bool isShort = name == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID || name == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
  if (bytes != (isShort ? sizeof(uint16_t) : sizeof(uint32_t)))
    return CUBLAS_STATUS_INVALID_VALUE;
  Promise promise = promiseOf(*algo);
  std::memset(value, 0, bytes);
  if (name == CUBLASLT_ALGO_CONFIG_ID)
    std::memcpy(value, &promise.number, bytes);
  if (name == CUBLASLT_ALGO_CONFIG_SPLITK_NUM)
    std::memcpy(value, &promise.splits, bytes);
  if (name == CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)
    std::memcpy(value, &promise.reduction, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *pa,
                              cublasLtMatrixLayout_t a, const void *pb, cublasLtMatrixLayout_t b, const void *beta,
                              const void *pc, cublasLtMatrixLayout_t c, void *pd, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceBytes,
                              cudaStream_t stream) {
  FAIL_IF_TOLD_LT(cublasLtMatmul);
  if (cublasStatus_t status = checkMatmul(*desc, *a, *b, *c, *d); status || !handle)
    return status ? status : CUBLAS_STATUS_INVALID_VALUE;
  Promise promise{magic, {1, 1, 1, 1}, 0, 0, 0, 0, false, 1, CUBLASLT_REDUCTION_SCHEME_NONE};
  if (algo)
    promise = promiseOf(*algo);
  const void *pointers[] = {pa, pb, pc, pd};
  for (int i = 0; i < 4; ++i)
    if (promise.magic != magic || !isAligned(pointers[i], promise.alignment[i]))
      return CUBLAS_STATUS_INVALID_VALUE;
  if (pc == pd && c != d) // "in-place: C == D and Cdesc == Ddesc"
    return CUBLAS_STATUS_INVALID_VALUE;
  if (promise.fails || !promise.isRight())
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const uint64_t used = promise.workspaceFor(*d);
  if (used > workspaceBytes || (used && !isAligned(workspace, 256)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!isAligned(desc->bias, sizeOf(d->type)))
    return CUBLAS_STATUS_INVALID_VALUE;
  LtMatmul matmul{*desc,
                  *a,
                  *b,
                  *c,
                  *d,
                  static_cast<const char *>(pa),
                  static_cast<const char *>(pb),
                  static_cast<const char *>(pc),
                  static_cast<char *>(pd),
                  *static_cast<const float *>(alpha),
                  *static_cast<const float *>(beta),
                  static_cast<char *>(workspace),
                  used,
                  promise.splits};
  const uint32_t took = promise.splits > 1 ? promise.splitMicroseconds : promise.microseconds;
  auto run = [matmul, took](const Issue &issue) {
    matmul.run(issue);
    passTime(issue.stream, took);
  };
  return issue(stream, [run] { return Work{nullptr, run, {}}; }) ? CUBLAS_STATUS_EXECUTION_FAILED
                                                                 : CUBLAS_STATUS_SUCCESS;
}
