//===- Matmul.h - matmuls over cuBLASLt -----------------------------------===//
//
// Every br_matmul_desc gets its plan once, at start: the library's descriptors and the
// algorithm that its heuristic puts first among those whose scratch memory fits the
// descriptor's workspace in the arena.  Equal descriptors share a plan.  Running one
// puts work on a stream and allocates nothing, so a CUDA graph can hold it.
//
// Algorithms are chosen for operands aligned as buffers of the arena are.  A part of a
// buffer (a head of an attention layer) may be aligned less: its algorithm is chosen at
// its first run.  That is the heuristic's first, for nothing can be timed any more.
//
// One that the schedule runs beside a collective is planned for the multiprocessors that the
// collective's CTAs leave.
//
// Matmuls of f32 compute in f32, without TF32; those of bf16 add up in f32.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMUL_H
#define BRAID_CUDA_MATMUL_H

#include "cuda/braid_cuda.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace braid {

class CudaMatmulPlan;
class LtHandle;
class MatmulChoices;
struct MatmulTrial;

// "matmul 3 (256 x 576 x 192)".
std::string nameOfMatmul(const br_matmul_desc &d, int32_t index);

// What matmuls that run alike have in common: the multiprocessors that they count on, 0 for all, and a text that is the
// same on all ranks.
struct MatmulKey {
  int32_t multiprocessors;
  std::string text;
};
MatmulKey matmulKeyOf(const br_matmul_desc &d, const br_model &model);

class CudaMatmulTable {
public:
  // The device is current.  Throws Error, with the matmul's number and sizes, for a
  // descriptor that cannot run.
  CudaMatmulTable(const br_model &model, std::byte *arena, cudaStream_t stream);
  ~CudaMatmulTable();

  // Times up to `most` algorithms of each matmul and finds the fastest (MatmulSearch.h).
  // The arena, in which nothing may lie yet, is all zeros afterwards.  `allGather`
  // returns the blobs of all ranks, in their order; all ranks must call this.  Throws Error.
  using AllGather = std::function<std::vector<std::string>(const std::string &)>;
  void search(int most, const AllGather &allGather);
  // What an earlier search has chosen for each call.  Throws Error where it does not fit this device.
  std::vector<MatmulTrial> fit(const MatmulChoices &choices);
  // Runs by what was chosen.
  void take(const std::vector<MatmulTrial> &chosen);
  // What the search has found; empty without one.
  const std::vector<MatmulTrial> &searched() const { return trials; }

  // Puts matmul `index` on the stream, but for what is left of it then; places are in the
  // device's memory.  What GELU keeps is in a slot so many bytes behind the first.
  br_status run(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend,
                int64_t auxSlot = 0);
  // What kernels are to compute of the last run; null: nothing.
  const br_matmul_rest *rest() const { return left.left ? &left : nullptr; }
  // Why the last run failed.
  const char *error() const { return message.c_str(); }

  // The number of a matmul among the distinct ones.
  int32_t numberOf(int32_t index) const { return numbers[index]; }
  // The least seconds that all distinct matmuls take, once each, by the device's data sheet; 0: not known.
  double leastSeconds(const br_model &model) const;
  // How matmul `index` runs, for people: "batch 16 in 1 call, 3.0 MiB of workspace".
  std::string describe(int32_t index) const;
  // Which epilogues kernels compute, and why; empty if the library does all.
  std::string describeRests() const;

private:
  std::vector<MatmulTrial> calls() const;
  const br_matmul_desc &firstOf(const MatmulTrial &trial) const;
  void timeCalls(int most);

  const br_matmul_desc *descriptors;
  std::byte *arena;
  uint64_t arenaBytes;
  cudaStream_t stream;
  std::unique_ptr<LtHandle> library;
  std::vector<std::unique_ptr<CudaMatmulPlan>> plans; // that differ
  std::vector<std::string> keys;                      // of plans, the same on all ranks
  std::vector<int32_t> numbers;                       // which of them each descriptor has
  std::vector<MatmulTrial> trials;
  br_matmul_rest left = {};
  std::string message;
};

} // namespace braid
#endif // BRAID_CUDA_MATMUL_H
