//===- Print.h - tensors as text --------------------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_PRINT_H
#define BRAID_LIB_REFERENCE_PRINT_H

#include "lib/Reference/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::reference {

/// Prints `loss: tensor<f32> = 1.2345`, or nested lists. For more than `limit`
/// elements, prints the size, norm and sum.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name, const Tensor &tensor, int64_t limit);

/// Formats one element: six digits for floats, `true` or `false` for i1.
std::string elementText(const Tensor &tensor, int64_t i);
/// Formats one element with all digits of a float.
std::string exactText(const Tensor &tensor, int64_t i);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_PRINT_H
