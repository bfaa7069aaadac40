//===- MatmulPanels.h - bytes of an operand in panels ---------------------===//
//
// The panel layout for multiplying pairs of bf16 (cpu/OperandLayouts.cpp).  The compiler compares its
// bytes with the scratch memory of the call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_MATMULPANELS_H
#define BRAID_MATMULPANELS_H

#include <cstdint>

namespace braid {

// Rows and columns are padded with zeros to multiples of these.
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
