//===- Convolutions.h - convolutions as matrix products ---------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_CONVOLUTIONS_H
#define BRAID_LIB_IMPORT_CONVOLUTIONS_H

#include "lib/Import/Windows.h"

namespace braid {

/// A convolution of floats: of batch x channels x space with weights of outputs x (channels / groups) x window. There
/// are 1 to 3 dims of space.
struct Convolution {
  mlir::Value input, weight;
  Windows windows;
  int64_t groups = 1;
  /// Whether the first number of a window meets the last of the weights, as in the gradient of a convolution.
  bool isFlipped = false;
};

/// Returns batch x outputs x space. Windows that do not overlap are patches, which a matrix multiplies. Of others the
/// parts are joined and multiplied; or, if there are more numbers than windows, each window is multiplied. A filter for
/// each channel gives a sum of products of parts.
llvm::Expected<mlir::Value> convolve(tg::TensorBuilder &b, const Convolution &conv);

} // namespace braid

#endif // BRAID_LIB_IMPORT_CONVOLUTIONS_H
