//===- LtMatmul.h - one matmul, with all that it depends on ---------------===//
#ifndef BRAID_SHIM_LTMATMUL_H
#define BRAID_SHIM_LTMATMUL_H

#include "Recorder.h"
#include "cublasLt.h"

struct cublasLtMatrixLayoutShim {
  cudaDataType type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t stride = 0;
};

struct cublasLtMatmulDescShim {
  int32_t transA = CUBLAS_OP_N, transB = CUBLAS_OP_N;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *aux = nullptr;
  int64_t auxLd = 0;
  int32_t biasType = -1;       // D's
  int32_t multiprocessors = 0; // of the device: all
};

namespace shim {

size_t sizeOf(cudaDataType type);

// D = epilogue(alpha op(A) op(B) + beta C), column-major.
struct LtMatmul {
  cublasLtMatmulDescShim desc;
  cublasLtMatrixLayoutShim a, b, old, c; // `old` is the library's C, `c` its D
  const char *pa, *pb, *pc;
  char *pd;
  float alpha, beta;
  char *workspace;
  size_t workspaceBytes;
  int32_t splits = 1; // parts of the sum over k

  int64_t m() const { return c.rows; }
  int64_t n() const { return c.columns; }
  int64_t k() const { return desc.transA == CUBLAS_OP_N ? a.columns : a.rows; }
  bool has(unsigned flags) const { return (desc.epilogue & flags) == flags; }
  cudaDataType biasType() const { return cudaDataType(desc.biasType < 0 ? c.type : desc.biasType); }
  // Number of elements of the bias gradient; 0: none.
  int64_t summed() const { return has(CUBLASLT_EPILOGUE_BGRADA) ? m() : has(CUBLASLT_EPILOGUE_BGRADB) ? n() : 0; }

  void run(const Issue &issue) const;

private:
  using Pieces = std::vector<std::pair<const void *, size_t>>;
  void runBatch(int32_t batch) const;
  void sumOperand() const;
  void finish(int64_t row, int64_t column, float sum, char *out, const char *addend) const;
  void check(const Pieces &reads, const Pieces &writes) const;
};

} // namespace shim
#endif // BRAID_SHIM_LTMATMUL_H
