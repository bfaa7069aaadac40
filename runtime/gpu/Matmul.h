//===- Matmul.h - matmuls over the GEMM library ---------------------------===//
//
// Makes the plan of every br_matmul_desc once, at start: the library's descriptors, and the first
// algorithm in the order of its heuristic whose scratch memory fits the descriptor's workspace in
// the arena.  Equal descriptors share a plan.  A run puts work on a stream and allocates nothing, so
// a graph can hold it.
//
// Algorithms are chosen for operands with the alignment of arena buffers.  A part of a buffer (a
// head of an attention layer) may be aligned less; its algorithm is chosen at its first run.  That
// is the heuristic's first choice, because nothing can be timed during a run.
//
// A matmul that the schedule runs beside a collective is planned for the multiprocessors that the
// collective's CTAs leave free.
//
// f32 matmuls compute in f32, without TF32; bf16 matmuls accumulate in f32.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMUL_H
#define BRAID_GPU_MATMUL_H

#include "gpu/Gemm.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

class MatmulPlan;
class MatmulChoices;
struct MatmulTrial;

// Returns "matmul 3 (256 x 576 x 192)".
std::string nameOfMatmul(const br_matmul_desc &d, int32_t index);

// Properties that decide how a matmul runs: its multiprocessors (0 means all), and a text that is
// equal on all ranks.
struct MatmulKey {
  int32_t multiprocessors;
  std::string text;
};
MatmulKey matmulKeyOf(const br_matmul_desc &d, const br_model &model);

class MatmulTable {
public:
  // The rank's device must be current.  Throws Error, with the matmul's number and sizes, for a
  // descriptor that cannot run.
  MatmulTable(const br_model &model, std::byte *arena, const GpuStream &stream);
  ~MatmulTable();

  // Times up to `maxCandidates` algorithms of each matmul and finds the fastest (MatmulSearch.h).  The arena
  // must be unused, and is all zeros afterwards.  `allGather` returns the blobs of all ranks, in
  // rank order; all ranks must call this.  Throws Error.
  using AllGather = std::function<std::vector<std::string>(const std::string &)>;
  void search(int maxCandidates, const AllGather &allGather);
  // Returns the algorithms that an earlier search chose for each call.  Throws Error if they do not
  // fit this device.
  std::vector<MatmulTrial> fit(const MatmulChoices &choices);
  // Uses the chosen algorithms from now on.
  void useChosen(const std::vector<MatmulTrial> &chosen);
  // Results of the search; empty without a search.
  const std::vector<MatmulTrial> &searched() const { return trials; }

  // Puts matmul `index` on the stream, without the epilogue parts in rest(); pointers are to device
  // memory.  `auxSlot` is the distance in bytes of GELU's kept input from the first slot.
  br_status run(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend,
                int64_t auxSlot = 0);
  // The part of the last run's epilogue that kernels must compute; null if none.
  const br_matmul_rest *rest() const { return left.left ? &left : nullptr; }
  // The reason why the last run failed.
  const char *error() const { return message.c_str(); }

  // Number of a matmul among the distinct ones.
  int32_t numberOf(int32_t index) const { return numbers[index]; }
  // Lower bound in seconds for running each distinct matmul once, by the device's data sheet; 0 if
  // unknown.
  double minSeconds(const br_model &model) const;
  // How matmul `index` runs, for messages: "batch 16 in 1 call, 3.0 MiB of workspace".
  std::string describe(int32_t index) const;
  // Lists the epilogues that kernels compute, and why; empty if the library computes all.
  std::string describeRests() const;

private:
  std::vector<MatmulTrial> calls() const;
  const br_matmul_desc &firstOf(const MatmulTrial &trial) const;
  void timeCalls(int maxCandidates);

  const br_matmul_desc *descriptors;
  std::byte *arena;
  uint64_t arenaBytes;
  const GpuStream &stream;
  std::optional<GemmLibrary> library;             // none without matmuls
  std::vector<std::unique_ptr<MatmulPlan>> plans; // distinct plans
  std::vector<std::string> keys;                  // key of each plan, the same on all ranks
  std::vector<int32_t> numbers;                   // index into `plans` for each descriptor
  std::vector<MatmulTrial> trials;
  br_matmul_rest left = {};
  std::string message;
};

} // namespace braid
#endif // BRAID_GPU_MATMUL_H
