//===- MatmulPanels.h - how large an operand is in panels -----------------===//
//
// The layout in which pairs of bf16 are multiplied (cpu/OperandLayouts.h), whose bytes the compiler
// compares with the scratch memory of the call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_MATMULPANELS_H
#define BRAID_MATMULPANELS_H

#include <cstdint>

namespace braid {

// Rows and columns are rounded up to these, with zeros.
inline constexpr int64_t panelRowMultiple = 32, panelColumns = 64;

inline constexpr int64_t panelCount(int64_t columns) { return (columns + panelColumns - 1) / panelColumns; }
inline constexpr int64_t panelHeight(int64_t rows) {
  return (rows + panelRowMultiple - 1) / panelRowMultiple * panelRowMultiple;
}
inline constexpr int64_t panelBytes(int64_t rows, int64_t columns) {
  return panelCount(columns) * panelColumns * panelHeight(rows) * 2;
}

} // namespace braid

#endif // BRAID_MATMULPANELS_H
