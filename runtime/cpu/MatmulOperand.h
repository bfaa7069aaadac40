//===- MatmulOperand.h - a matrix of a matmul -----------------------------===//
//
// The memory layout of a matrix, and copies between two matrices of the same shape.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_MATMULOPERAND_H
#define BRAID_CPU_MATMULOPERAND_H

#include <cstdint>
#include <cstring>

namespace braid {

// One matrix of a matmul, packed or in place. oneDNN's fast implementation needs dense matrices. A matrix
// that is part of a wider one (a head of an attention layer) is copied into the workspace first, or copied
// out of it afterwards.
struct MatmulOperand {
  int64_t rows = 0, columns = 0, byRow = 0, byColumn = 0; // strides in elements
  int64_t size = 0;                                       // bytes per element

  bool isRowMajor() const { return byColumn == 1 || byRow != 1; }
  bool isDense() const { return (byColumn == 1 && byRow == columns) || (byRow == 1 && byColumn == rows); }
  uint64_t bytes() const { return static_cast<uint64_t>(rows * columns * size); }

  // Returns the dense matrix with the same order of dimensions.
  MatmulOperand packed() const {
    if (isRowMajor())
      return {rows, columns, columns, 1, size};
    return {rows, columns, 1, rows, size};
  }
};

// Copies between two matrices of the same shape and order: lines [begin, end), which are rows, or columns
// of a column-major matrix.
inline void copyLines(const MatmulOperand &to, char *out, const MatmulOperand &from, const char *in, int64_t begin,
                      int64_t end) {
  bool rowMajor = from.isRowMajor();
  int64_t length = rowMajor ? from.columns : from.rows;
  int64_t toLine = rowMajor ? to.byRow : to.byColumn;
  int64_t fromLine = rowMajor ? from.byRow : from.byColumn;
  int64_t toStep = rowMajor ? to.byColumn : to.byRow;
  int64_t fromStep = rowMajor ? from.byColumn : from.byRow;
  for (int64_t line = begin; line < end; ++line) {
    char *o = out + line * toLine * to.size;
    const char *i = in + line * fromLine * from.size;
    if (toStep == 1 && fromStep == 1) {
      std::memcpy(o, i, length * to.size);
      continue;
    }
    for (int64_t e = 0; e < length; ++e)
      std::memcpy(o + e * toStep * to.size, i + e * fromStep * to.size, to.size);
  }
}
inline int64_t lineCount(const MatmulOperand &m) { return m.isRowMajor() ? m.rows : m.columns; }

} // namespace braid
#endif // BRAID_CPU_MATMULOPERAND_H
