//===- MatmulPlan.h - how one matmul runs on a GPU ------------------------===//
//
// A matmul is `items` calls, or with outer loops as many for each of their steps,
// which add into the same C in order: the first as the descriptor says, the others with
// beta = 1.  Bias and epilogue belong to the last of them.  An addend is the library's C: where it
// lies in memory as our C does, both have one layout, as the library wants it of what is the same memory.
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

// What the library has for a call: none, and why.
struct MatmulAlgorithms {
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;
  std::string refusal;
};

// The same of one way to end a matmul.
struct MatmulOffer {
  EpilogueWay way;
  MatmulAlgorithms algorithms;
};

class CudaMatmulPlan {
public:
  // Where a matmul runs.
  struct Place {
    cublasLtHandle_t library;
    cudaStream_t stream;
    void *workspace;
  };

  // `multiprocessors` are those that it may count on; 0: all.  `where` names the descriptor in
  // errors.  Throws Error for what cuBLASLt cannot do.
  CudaMatmulPlan(const br_matmul_desc &desc, int32_t multiprocessors, const Place &place, const std::string &where);

  // `bias` is where the bias lies, or goes its gradient.  Returns what is left to kernels, as
  // flags of br_rest.  Throws Error when the library fails.
  int32_t run(const Place &place, const void *a, const void *b, void *c, const void *bias, void *aux,
              const void *addend);

  // The calls that a run is made of, which may run by different algorithms.
  std::vector<MatmulTrial> calls() const;
  // Times up to `most` algorithms of one of them, for operands that begin where buffers do.
  // `workspace` is where it lies in the arena.
  void time(const Place &place, int most, MatmulScratch &scratch, ArenaRange workspace, MatmulTrial &trial);
  // Checks the only candidate, which was chosen in another process.  Throws Error if it does not do.
  void check(const Place &place, MatmulTrial &trial);
  // Runs by what was chosen from now on.
  void take(const MatmulTrial &trial);

  // What the library has for each way to end, at most so many algorithms of each.
  std::vector<MatmulOffer> offers(const Place &place, int most);

  std::string describe() const;
  // What kernels compute, and why: "GELU (f32 by f32 into f32): CUBLAS_STATUS_NOT_SUPPORTED";
  // empty where the library does everything.
  std::string describeLeft() const;

private:
  using Candidates = std::vector<cublasLtMatmulHeuristicResult_t>;
  using Offer = MatmulAlgorithms;
  // One way to finish a call, and what was chosen for it.
  struct Finish {
    EpilogueWay way;
    LtOperation operation;
    std::optional<Offer> offers[9] = {}; // at most one candidate each; by log2 of the alignment

    Offer &offer(int alignment);
    const Offer &offer(int alignment) const { return const_cast<Finish *>(this)->offer(alignment); }
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
  std::unique_ptr<Finish> describeFinish(const EpilogueWay &way);
  void setPlaces(const Finish &finish, const void *bias, const void *aux);
  bool choose(const Place &place, Finish &finish, int alignment);
  Finish &chooseLast(const Place &place, int alignment);
  Offer ask(const Place &place, const Finish &finish, int alignment, int most);
  void addSplits(const Place &place, const Finish &finish, size_t most, Candidates &candidates) const;
  // Whether the library's C has the layout of its D.
  bool addsLikeC() const { return gemm.addend.ld == gemm.c.ld && gemm.addend.batchStride == gemm.c.batchStride; }
  const LtLayout &added() const { return addsLikeC() ? c : addend; }
  Finish &finishOf(const MatmulTrial &trial) { return trial.isLast ? *last : *plain; }
  [[noreturn]] void failOf(const Finish &finish, int alignment) const;
  int alignmentOf(const Pointers &p) const;
  cublasStatus_t multiply(const Place &place, const Finish &finish, const cublasLtMatmulAlgo_t *algorithm,
                          const Pointers &p, bool adds) const;
  void check(cublasStatus_t status, const char *name) const { checkLt(status, where, name); }

  br_matmul_desc d;
  int32_t multiprocessors;
  std::string where;
  ColumnMajorGemm gemm;
  int64_t items, steps; // calls for independent results; of each, calls that add up
  int usual;            // alignment of what begins where buffers do
  LtLayout a, b, c, addend;
  std::unique_ptr<Finish> plain;             // all calls but the last, where steps > 1
  std::vector<std::unique_ptr<Finish>> ways; // the last call, in the order of preference
  Finish *last = nullptr;                    // of operands that begin where buffers do
};

} // namespace braid
#endif // BRAID_CUDA_MATMULPLAN_H
