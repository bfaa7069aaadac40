//===- MatmulPlan.h - plan of one matmul on a GPU -------------------------===//
//
// A matmul has `items` results, and each takes `steps` calls, one for each iteration of the outer
// loops.  The calls of a result accumulate into the same C in order: the first as the descriptor
// says, the others with beta = 1.  The last call has the bias and the epilogue.  The library's C is
// the addend.  If the addend has the memory layout of our C, both share one layout object, because
// the library wants one if C and D are the same memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULPLAN_H
#define BRAID_CUDA_MATMULPLAN_H

#include "base/Error.h"
#include "cuda/ColumnMajorGemm.h"
#include "cuda/MatmulEpilogue.h"
#include "cuda/MatmulScratch.h"
#include "cuda/MatmulSearch.h"

#include <cublasLt.h>
#include <memory>
#include <optional>

namespace braid {

//===----------------------------------------------------------------------===//
// Owners of cuBLASLt's objects
//===----------------------------------------------------------------------===//

// Throws Error unless `status` is success; `where` names the matmul.
inline void checkLt(cublasStatus_t status, const std::string &where, const char *call) {
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

using LtLibrary = LtObject<cublasLtHandle_t, cublasLtDestroy>;
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

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

// Algorithms of the library for a call; if there are none, `refusal` tells why.
struct MatmulAlgorithms {
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;
  std::string refusal;
};

// Algorithms of the library for one variant of the epilogue.
struct MatmulCandidate {
  EpilogueVariant variant;
  MatmulAlgorithms algorithms;
};

class CudaMatmulPlan {
public:
  // Library, stream and workspace of a run.
  struct Place {
    cublasLtHandle_t library;
    cudaStream_t stream;
    void *workspace;
  };

  // `multiprocessors` is the number that the matmul may use; 0 means all.  `where` names the
  // descriptor in errors.  Throws Error for a descriptor that cuBLASLt cannot run.
  CudaMatmulPlan(const br_matmul_desc &desc, int32_t multiprocessors, const Place &place, const std::string &where);

  // `bias` is the address of the bias, or of its gradient.  Returns the parts of the epilogue that
  // are left to kernels, as flags of br_rest.  Throws Error if the library fails.
  int32_t run(const Place &place, const void *a, const void *b, void *c, const void *bias, void *aux,
              const void *addend);

  // Returns the distinct calls of a run, which may use different algorithms.
  std::vector<MatmulTrial> calls() const;
  // Times up to `maxCandidates` algorithms of one call, for operands aligned like buffers.  `workspace` is
  // the range of the matmul's workspace in the arena.
  void time(const Place &place, int maxCandidates, MatmulScratch &scratch, ArenaRange workspace, MatmulTrial &trial);
  // Checks the only candidate, which another process chose.  Throws Error if it does not work here.
  void check(const Place &place, MatmulTrial &trial);
  // Uses the chosen algorithm from now on.
  void useChosen(const MatmulTrial &trial);

  // Returns at most `maxCandidates` algorithms of the library for each variant of the epilogue.
  std::vector<MatmulCandidate> candidates(const Place &place, int maxCandidates);

  std::string describe() const;
  // Returns the parts that kernels compute, and why: "GELU (f32 by f32 into f32):
  // CUBLAS_STATUS_NOT_SUPPORTED"; empty if the library computes everything.
  std::string describeFallbacks() const;

private:
  using Candidates = std::vector<cublasLtMatmulHeuristicResult_t>;
  // A call with one variant of the epilogue, and the algorithms chosen for the call.
  struct Call {
    EpilogueVariant variant;
    LtOperation operation;
    std::optional<MatmulAlgorithms> algorithms[9] = {}; // by log2 of the alignment; at most one candidate each

    MatmulAlgorithms &algorithmsFor(int alignment);
    const MatmulAlgorithms &algorithmsFor(int alignment) const {
      return const_cast<Call *>(this)->algorithmsFor(alignment);
    }
  };
  struct Pointers {
    const char *a = nullptr, *b = nullptr;
    char *c = nullptr;
    const void *bias = nullptr, *aux = nullptr;
    const char *addend = nullptr;
  };

  void checkTypes() const;
  void checkEpilogue() const;
  void checkAux() const;
  void checkBiasGrad() const;
  void checkAddend() const;
  void describeMatrix(LtLayout &layout, const ColumnMatrix &matrix);
  std::unique_ptr<Call> describeCall(const EpilogueVariant &variant);
  void setPlaces(const Call &call, const void *bias, const void *aux);
  bool choose(const Place &place, Call &call, int alignment);
  Call &chooseLast(const Place &place, int alignment);
  MatmulAlgorithms ask(const Place &place, const Call &call, int alignment, int maxCandidates);
  void addSplits(const Place &place, const Call &call, size_t maxCandidates, Candidates &candidates) const;
  // Whether the addend has the layout of the result.
  bool addsLikeC() const { return gemm.addend.ld == gemm.c.ld && gemm.addend.batchStride == gemm.c.batchStride; }
  const LtLayout &added() const { return addsLikeC() ? c : addend; }
  Call &callOf(const MatmulTrial &trial) { return trial.isLast ? *last : *plain; }
  [[noreturn]] void failOf(const Call &call, int alignment) const;
  int alignmentOf(const Pointers &p) const;
  cublasStatus_t multiply(const Place &place, const Call &call, const cublasLtMatmulAlgo_t *algorithm,
                          const Pointers &p, bool adds) const;
  void check(cublasStatus_t status, const char *name) const { checkLt(status, where, name); }

  br_matmul_desc d;
  int32_t multiprocessors;
  std::string where;
  ColumnMajorGemm gemm;
  int64_t items, steps; // independent results; calls that accumulate into each result
  int defaultAlignment; // alignment of operands that start where buffers do
  LtLayout a, b, c, addend;
  std::unique_ptr<Call> plain;                 // all calls but the last, if steps > 1
  std::vector<std::unique_ptr<Call>> variants; // the last call, in order of preference
  Call *last = nullptr;                        // for operands that start where buffers do
};

} // namespace braid
#endif // BRAID_CUDA_MATMULPLAN_H
