//===- Matmul.h - matmuls by oneDNN ---------------------------------------===//
//
// Each br_matmul_desc gets its implementation once, at start, for the number of threads in use. oneDNN's
// scratch memory is the descriptor's workspace in the arena, so a matmul allocates almost nothing. Threads
// are used in one of three modes:
//
//   team    one matmul at a time, with all threads inside oneDNN
//   items   several independent matmuls: one thread each, in contiguous ranges
//   strips  one matmul split by rows of C, one thread each; used if oneDNN's own
//           split needs more scratch memory than the workspace has
//
// Equal descriptors share an implementation.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_MATMUL_H
#define BRAID_CPU_MATMUL_H

#include "braid_rt.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace braid {

class MatmulPlan;

class MatmulTable {
public:
  // Throws Error if a descriptor cannot run: an unsupported type, or no implementation that fits the
  // workspace.
  MatmulTable(const br_model &model, int threads, std::byte *arena);
  ~MatmulTable();

  void run(int32_t index, const void *a, const void *b, void *c, const void *bias);

  // Describes how descriptor `index` runs, as in "team brg:avx512_core, 128 KiB".
  std::string describe(int32_t index) const;
  // Whether oneDNN has only its reference loops for the descriptor.
  bool isSlow(int32_t index) const;

private:
  const br_matmul_desc *descriptors;
  std::byte *arena;
  int threads;
  std::vector<std::shared_ptr<MatmulPlan>> plans; // null: use multiplyByLoops
};

// Whether oneDNN multiplies bf16 on this processor, and whether it does so by dedicated instructions.
bool multipliesBFloat16();
bool multipliesBFloat16Fast();

// Multiplies without oneDNN: sums in f32 and rounds once.
void multiplyByLoops(const br_matmul_desc &d, int threads, const char *a, const char *b, char *c, const char *bias);

} // namespace braid
#endif // BRAID_CPU_MATMUL_H
