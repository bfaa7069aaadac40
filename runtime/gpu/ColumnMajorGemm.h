//===- ColumnMajorGemm.h - a GEMM in column-major terms -------------------===//
//
// The only place that knows both conventions.  Braid's: C[m,n] = A[m,k] B[k,n], where each matrix
// has a stride for rows and a stride for columns, one of which is 1; a row-major matrix has
// byColumn = 1. The GEMM library's, that of BLAS: a matrix is a list of columns, `ld` elements apart, and may be used
// transposed.
//
// Memory that is row-major here is the transposed matrix in column-major order.  So
//
//   C row-major      C^T[n,m] = B^T[n,k] A^T[k,m]: the library's A is our B, its B is
//                   our A, and its D is our C with ld = c.row_stride.  A bias over our n runs
//                   over the library's rows, which is the bias that it supports.
//   C column-major   C[m,n] = A[m,k] B[k,n] unchanged.  A bias over n would run over the
//                   library's columns, which it does not support.
//
// An operand stored in the other order is used transposed; nothing is copied.  For the linear layer
// y[t,f] = x[t,d] w[d,f] with w stored n x k, the call is
// D[f,t] = op_T(w)[f,d] op_N(x)[d,t].
//
// Batch loops whose strides compose are merged.  The longest remaining loop runs inside the library
// call as a strided batch; the others run around the call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_COLUMNMAJORGEMM_H
#define BRAID_GPU_COLUMNMAJORGEMM_H

#include "braid_rt.h"

#include <string>
#include <vector>

namespace braid {

// A matrix in memory, before it is transposed.
struct ColumnMatrix {
  br_dtype type;
  int64_t rows = 0, columns = 0, ld = 0;
  bool transposed = false;
  int64_t batchStride = 0;
};

// Loop with strides of a, b, c and the addend in elements, for the library's matrices.
struct ColumnLoop {
  int64_t size, a, b, c, addend;
};

struct ColumnMajorGemm {
  // Throws Error, with `where` as prefix, if strides do not describe a matrix.
  ColumnMajorGemm(const br_matmul_desc &desc, const std::string &where);

  int64_t m, n, k;
  ColumnMatrix a, b, c, addend; // the library's C is the addend, or our C
  bool swapped = false;         // the library's A is our B
  int64_t batch = 1;            // GEMMs in one call
  std::vector<ColumnLoop> loops, outer;
};

// Offsets in elements for iteration `index` of the loops; the last loop varies fastest.
struct ColumnOffsets {
  int64_t a = 0, b = 0, c = 0, addend = 0;
};
ColumnOffsets offsetsOf(const std::vector<ColumnLoop> &loops, int64_t index);
int64_t countOf(const std::vector<ColumnLoop> &loops);

} // namespace braid
#endif // BRAID_GPU_COLUMNMAJORGEMM_H
