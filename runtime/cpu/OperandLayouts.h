//===- OperandLayouts.h - operand layouts of oneDNN kernels ---------------===//
//
// oneDNN's fast bf16 kernel multiplies rows of A by panels of B. A panel has 64 columns; it stores one pair
// of rows after another, and each pair of rows as 64 pairs of numbers (MatmulPanels.h). From any other
// layout, oneDNN copies parts of B, again for each block of rows of C. Here B is copied once.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_OPERANDLAYOUTS_H
#define BRAID_CPU_OPERANDLAYOUTS_H

#include "cpu/MatmulOperand.h"

#include <dnnl.hpp>

namespace braid {

// Whether `desc` describes a matrix in panels.
bool arePanels(const dnnl::memory::desc &desc);

// Copies panels [begin, end) of B to their places in `out`.
void copyPanels(const MatmulOperand &b, const char *in, char *out, int64_t begin, int64_t end);

} // namespace braid
#endif // BRAID_CPU_OPERANDLAYOUTS_H
