//===- OperandLayouts.h - operands as oneDNN's kernel reads them ----------===//
//
// oneDNN's fast kernel for bf16 multiplies rows of A by panels of B: 64 columns each, in which the pairs of
// rows follow each other, and of a pair of rows 64 pairs of numbers (MatmulPanels.h).  From another layout
// oneDNN copies parts of B, and the same part again for each block of rows of C.  Here it is copied once.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_OPERANDLAYOUTS_H
#define BRAID_CPU_OPERANDLAYOUTS_H

#include "cpu/MatmulOperand.h"

#include <dnnl.hpp>

namespace braid {

// Whether this describes a matrix in panels.
bool arePanels(const dnnl::memory::desc &desc);

// Panels [begin, end) of B, to their places behind `out`.
void copyPanels(const MatmulOperand &b, const char *in, char *out, int64_t begin, int64_t end);

} // namespace braid
#endif // BRAID_CPU_OPERANDLAYOUTS_H
