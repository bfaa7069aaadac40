//===- MatmulPlan.h - how one matmul runs on a GPU ------------------------===//
//
// A matmul is `items` calls, or with outer loops as many for each of their steps,
// which add into the same C in order: the first as the descriptor says, the others with
// beta = 1.  Bias and epilogue belong to the last of them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULPLAN_H
#define BRAID_CUDA_MATMULPLAN_H

#include "base/Error.h"
#include "cuda/ColumnMajorGemm.h"
#include "cuda/MatmulScratch.h"
#include "cuda/MatmulSearch.h"

#include <cublasLt.h>
#include <optional>

namespace braid {

//===----------------------------------------------------------------------===//
// Owners of cuBLASLt's objects
//===----------------------------------------------------------------------===//

// Throws Error for anything but success; `where` names the matmul.
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

class CudaMatmulPlan {
public:
  // Where a matmul runs.
  struct Place {
    cublasLtHandle_t library;
    cudaStream_t stream;
    void *workspace;
  };

  // `where` names the descriptor in errors.  Throws Error for what cuBLASLt cannot do.
  CudaMatmulPlan(const br_matmul_desc &desc, const Place &place, const std::string &where);

  // `bias` is where the bias lies, or goes its gradient.  Throws Error when the library fails.
  void run(const Place &place, const void *a, const void *b, void *c, const void *bias, void *aux);

  // Times up to `most` algorithms of each of the calls that a run is made of, for operands
  // that begin where buffers do.  `workspace` is where it lies in the arena.
  std::vector<MatmulTrial> time(const Place &place, int most, MatmulScratch &scratch, ArenaRange workspace);
  // Runs by what was chosen from now on.
  void take(const MatmulTrial &trial);

  std::string describe() const;

private:
  // One way to finish a call: plainly, or with bias and activation.
  struct Finish {
    LtOperation operation;
    std::optional<cublasLtMatmulHeuristicResult_t> chosen[9]; // by log2 of the alignment
  };
  struct Pointers {
    const char *a = nullptr, *b = nullptr;
    char *c = nullptr;
    const void *bias = nullptr, *aux = nullptr;
  };

  void checkTypes() const;
  void checkEpilogue() const;
  void checkAux() const;
  void checkBiasGrad() const;
  void describeMatrix(LtLayout &layout, const ColumnMatrix &matrix);
  void describeOperation(Finish &finish, bool isLast);
  void setPlaces(const void *bias, const void *aux);
  const cublasLtMatmulAlgo_t *choose(const Place &place, Finish &finish, int alignment);
  using Candidates = std::vector<cublasLtMatmulHeuristicResult_t>;
  Candidates candidatesFor(const Place &place, const Finish &finish, int alignment, int most);
  MatmulTrial timeFinish(const Place &place, const Finish &finish, int most, MatmulScratch &scratch,
                         ArenaRange workspace);
  int alignmentOf(const Pointers &p) const;
  cublasStatus_t multiply(const Place &place, const Finish &finish, const cublasLtMatmulAlgo_t *algorithm,
                          const Pointers &p, bool adds) const;
  void check(cublasStatus_t status, const char *name) const { checkLt(status, where, name); }

  br_matmul_desc d;
  std::string where;
  ColumnMajorGemm gemm;
  int64_t items, steps; // calls for independent results; of each, calls that add up
  int usual;            // alignment of what begins where buffers do
  LtLayout a, b, c;
  Finish plain, last; // `plain` where steps > 1
};

} // namespace braid
#endif // BRAID_CUDA_MATMULPLAN_H
