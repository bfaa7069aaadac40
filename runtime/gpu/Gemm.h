//===- Gemm.h - a call of the GEMM library --------------------------------===//
//
// The vendor's folder defines these functions.  MatmulPlan turns a br_matmul_desc into such calls.
// f32 GEMMs compute in f32; bf16 GEMMs accumulate in f32.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_GEMM_H
#define BRAID_GPU_GEMM_H

#include "gpu/ColumnMajorGemm.h"
#include "gpu/Streams.h"
#include "gpu/braid_gpu.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace braid {

// Alignment of arena buffers in bytes, the strictest that a library asks for.
inline constexpr int bufferAlignment = 256;

// The library, started on the current device.  Throws Error.
class GemmLibrary {
public:
  GemmLibrary();
  ~GemmLibrary();
  GemmLibrary(const GemmLibrary &) = delete;
  GemmLibrary &operator=(const GemmLibrary &) = delete;

  static uint64_t version();
  GpuHandle native() const { return handle; }

private:
  GpuHandle handle;
};

// An algorithm of the library for a call.
struct GemmAlgorithm {
  std::array<uint64_t, 8> words = {}; // only the library reads them
  uint64_t workspaceBytes = 0;
  float waves = 0; // of thread blocks on the device
};
// Returns the algorithm's configuration as the library reports it, with "?" for missing parts;
// equal only for equal algorithms.
std::string describeAlgorithm(const GemmAlgorithm &algorithm);

// Algorithms of the library for a call; if there are none, `refusal` tells why.
struct GemmAlgorithms {
  std::vector<GemmAlgorithm> candidates;
  std::string refusal;
};

// Library, stream and workspace of a run.
struct GemmPlace {
  const GemmLibrary &library;
  const GpuStream &stream;
  void *workspace;
};

// Matrices of a call; the library's C is the addend, or C itself if that is null.
struct GemmOperands {
  const void *a, *b;
  void *c;
  const void *addend;
};

// The calls for one matmul, which differ in how much of the epilogue they compute.  Functions throw
// Error with the matmul's name if the library fails.
class Gemm {
public:
  // Alignment in bytes of the matrix with GELU's input.
  static const uint64_t auxAlignment;

  // References must outlive the object.  Throws Error for a matmul that the library cannot compute.
  // `multiprocessors` is the number that a call may use; 0 means all.
  Gemm(const br_matmul_desc &desc, const ColumnMajorGemm &shape, int32_t multiprocessors, const std::string &where);
  ~Gemm();

  // Adds a call, numbered from 0, without the parts `left` of the epilogue, flags of br_rest.
  void addCall(int32_t left);
  // Returns "GELU_BIAS": the epilogue that a call computes.
  const char *nameOfEpilogue(int call) const;

  // Returns at most `most` algorithms that fit the matmul's workspace, for operands aligned to
  // `alignment` bytes; the library's fastest guess comes first.
  GemmAlgorithms ask(const GemmPlace &place, int call, int alignment, int most);
  // Splits the algorithm's sum over k into parts, added in f32 and in a fixed order.  Returns whether
  // that works.
  bool split(const GemmPlace &place, int call, int32_t parts, GemmAlgorithm &algorithm) const;
  // Sets the bytes of workspace of an algorithm that another process chose.  Throws Error, with
  // `name`, if it does not work here.
  void check(const GemmPlace &place, int call, const std::string &name, GemmAlgorithm &algorithm) const;

  // Sets the addresses of the bias or its gradient, and of GELU's input, for the next runs of a call.
  void setPlaces(int call, const void *bias, const void *aux);
  // Queues a call, with beta = 1 if it adds to C.  Returns 0, or an error of the library.
  int run(const GemmPlace &place, int call, const GemmAlgorithm &algorithm, const GemmOperands &operands,
          bool adds) const;
  // Throws the error of a run; nothing for 0.
  void checkRun(int error) const;

private:
  void checkTypes() const;
  void checkEpilogue() const;
  void checkAux() const;
  void checkBiasGrad() const;
  void checkAddend() const;

  const br_matmul_desc &d;
  const ColumnMajorGemm &gemm;
  const int32_t multiprocessors;
  const std::string &where;
  struct Objects; // of the library
  std::unique_ptr<Objects> objects;
};

} // namespace braid
#endif // BRAID_GPU_GEMM_H
