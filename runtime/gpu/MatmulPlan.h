//===- MatmulPlan.h - plan of one matmul on a GPU -------------------------===//
//
// A matmul has `items` results, and each takes `steps` calls, one for each iteration of the outer
// loops.  The calls of a result accumulate into the same C in order: the first as the descriptor
// says, the others with beta = 1.  The last call has the bias and the epilogue.  The library's C is
// the addend.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULPLAN_H
#define BRAID_GPU_MATMULPLAN_H

#include "gpu/Gemm.h"
#include "gpu/MatmulScratch.h"
#include "gpu/MatmulSearch.h"

#include <optional>

namespace braid {

// Algorithms of the library for one variant of the epilogue.
struct MatmulCandidate {
  const char *epilogue; // "GELU_BIAS"
  GemmAlgorithms algorithms;
};

class MatmulPlan {
public:
  // `multiprocessors` is the number that the matmul may use; 0 means all.  `where` names the
  // descriptor in errors.  Throws Error for a descriptor that the library cannot run.
  MatmulPlan(const br_matmul_desc &desc, int32_t multiprocessors, const GemmPlace &place, const std::string &where);

  // `bias` is the address of the bias, or of its gradient.  Returns the parts of the epilogue that
  // are left to kernels, as flags of br_rest.  Throws Error if the library fails.
  int32_t run(const GemmPlace &place, const void *a, const void *b, void *c, const void *bias, void *aux,
              const void *addend);

  // Returns the distinct calls of a run, which may use different algorithms.
  std::vector<MatmulTrial> trials() const;
  // Times up to `maxCandidates` algorithms of one call, for operands aligned like buffers.  `workspace` is
  // the range of the matmul's workspace in the arena.
  void time(const GemmPlace &place, int maxCandidates, MatmulScratch &scratch, ArenaRange workspace,
            MatmulTrial &trial);
  // Checks the only candidate, which another process chose.  Throws Error if it does not work here.
  void check(const GemmPlace &place, MatmulTrial &trial);
  // Uses the chosen algorithm from now on.
  void useChosen(const MatmulTrial &trial);

  // Returns at most `maxCandidates` algorithms of the library for each variant of the epilogue.
  std::vector<MatmulCandidate> candidates(const GemmPlace &place, int maxCandidates);

  std::string describe() const;
  // Returns the parts that kernels compute, and why: "GELU (f32 by f32 into f32):
  // CUBLAS_STATUS_NOT_SUPPORTED"; empty if the library computes everything.
  std::string describeFallbacks() const;

private:
  // A call of the library with one variant of the epilogue, and the algorithms chosen for the call.
  struct Call {
    int number;                                       // among the calls of `library`
    int32_t left;                                     // parts of the epilogue that kernels compute
    std::optional<GemmAlgorithms> algorithms[9] = {}; // by log2 of the alignment; at most one candidate each

    GemmAlgorithms &algorithmsFor(int alignment);
    const GemmAlgorithms &algorithmsFor(int alignment) const {
      return const_cast<Call *>(this)->algorithmsFor(alignment);
    }
  };
  struct Pointers {
    const char *a = nullptr, *b = nullptr;
    char *c = nullptr;
    const void *bias = nullptr, *aux = nullptr;
    const char *addend = nullptr;
  };

  Call describeCall(int32_t left);
  bool choose(const GemmPlace &place, Call &call, int alignment);
  Call &chooseLast(const GemmPlace &place, int alignment);
  void addSplits(const GemmPlace &place, const Call &call, size_t maxCandidates,
                 std::vector<GemmAlgorithm> &candidates) const;
  Call &callOf(const MatmulTrial &trial) { return trial.isLast ? *last : *plain; }
  [[noreturn]] void failOf(const Call &call, int alignment) const;
  int alignmentOf(const Pointers &p) const;

  br_matmul_desc d;
  int32_t multiprocessors;
  std::string where;
  ColumnMajorGemm gemm;
  Gemm library;
  int64_t items, steps;       // independent results; calls that accumulate into each result
  int defaultAlignment;       // alignment of operands that start where buffers do
  int calls = 0;              // described calls
  std::optional<Call> plain;  // all calls but the last, if steps > 1
  std::vector<Call> variants; // the last call, in order of preference
  Call *last = nullptr;       // for operands that start where buffers do
};

} // namespace braid
#endif // BRAID_GPU_MATMULPLAN_H
