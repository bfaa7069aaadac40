//===- ColumnMajorGemm.h - a GEMM as a column-major library sees it -------===//
//
// The one place that knows both conventions.  Ours: C[m,n] = A[m,k] B[k,n], where each
// matrix has a stride for its rows and one for its columns, one of them 1; a row-major
// matrix has byColumn = 1.  cuBLASLt's: a matrix is a list of columns, `ld` elements
// apart, and may be used transposed.
//
// Memory that is row-major for us is, column-major, the transposed matrix.  So
//
//   C row-major      C^T[n,m] = B^T[n,k] A^T[k,m]: the library's A is our B, its B is
//                    our A, and its D is our C with ld = c.row_stride.  A bias over our n is
//                    one over the library's rows, which is the kind that it adds.
//   C column-major   C[m,n] = A[m,k] B[k,n] as it stands.  A bias over n would be one
//                    over the library's columns: it has none such.
//
// An operand whose memory runs the other way is used transposed: nothing is copied.
// For the linear layer y[t,f] = x[t,d] w[d,f] with w stored n x k, that is
// D[f,t] = op_T(w)[f,d] op_N(x)[d,t].
//
// Batch loops whose strides compose are one loop; the longest that remains runs inside
// the library call (a strided batch), the others around it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_COLUMNMAJORGEMM_H
#define BRAID_CUDA_COLUMNMAJORGEMM_H

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

// Strides of a, b, c and the addend in elements, which are those of the library's matrices.
struct ColumnLoop {
  int64_t size, a, b, c, addend;
};

struct ColumnMajorGemm {
  // Throws Error, which begins with `where`, for strides that are not a matrix's.
  ColumnMajorGemm(const br_matmul_desc &desc, const std::string &where);

  int64_t m, n, k;
  ColumnMatrix a, b, c, addend; // the library's C is the addend, or our C
  bool swapped = false;         // the library's A is our B
  int64_t batch = 1;            // GEMMs of one call
  std::vector<ColumnLoop> loops, outer;
};

// Offsets of combination `index` of the loops, the last varying fastest.
struct ColumnOffsets {
  int64_t a = 0, b = 0, c = 0, addend = 0;
};
ColumnOffsets offsetsOf(const std::vector<ColumnLoop> &loops, int64_t index);
int64_t countOf(const std::vector<ColumnLoop> &loops);

} // namespace braid
#endif // BRAID_CUDA_COLUMNMAJORGEMM_H
