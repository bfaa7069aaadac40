//===- Print.cpp - tensors as text ----------------------------------------===//

#include "lib/Reference/Print.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace braid::reference;

std::string braid::reference::elementText(const Tensor &tensor, int64_t i) {
  if (tensor.elementType.isInteger(1))
    return tensor.n(i) ? "true" : "false";
  if (!tensor.hasFloats())
    return std::to_string(tensor.n(i));
  // The sign of a NaN has no meaning and differs between machines.
  if (std::isnan(tensor.f(i)))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", tensor.f(i));
  return text;
}

std::string braid::reference::exactText(const Tensor &tensor, int64_t i) {
  if (!tensor.hasFloats() || std::isnan(tensor.f(i)))
    return elementText(tensor, i);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", tensor.f(i));
  return text;
}

/// Prints the sub-tensor that begins at element `begin` and has the dims from `dim` on.
static void printNested(llvm::raw_ostream &os, const Tensor &tensor, int64_t dim, int64_t begin) {
  if (dim == tensor.rank()) {
    os << elementText(tensor, begin);
    return;
  }
  int64_t stride = rowMajorStrides(tensor.shape)[dim];
  os << '[';
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    os << (i ? ", " : "");
    printNested(os, tensor, dim + 1, begin + i * stride);
  }
  os << ']';
}

void braid::reference::printTensor(llvm::raw_ostream &os, StringRef name, const Tensor &tensor, int64_t limit) {
  os << name << ": " << RankedTensorType::get(tensor.shape, tensor.elementType) << " = ";
  if (tensor.size() <= limit) {
    printNested(os, tensor, 0, 0);
  } else {
    double squares = 0, sum = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double value = tensor.hasFloats() ? tensor.f(i) : static_cast<double>(tensor.n(i));
      squares += value * value;
      sum += value;
    }
    os << llvm::format("%lld elements, norm %.6g, sum %.6g", static_cast<long long>(tensor.size()), std::sqrt(squares),
                       sum);
  }
  os << '\n';
}
