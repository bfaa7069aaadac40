//===- Losses.h - losses that programs call or --loss adds ------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_LOSSES_H
#define BRAID_LIB_IMPORT_TORCH_LOSSES_H

#include "dialects/TG/TGBuilder.h"
#include "llvm/Support/Error.h"

namespace braid::torch {

/// A loss of an output of the program and of labels.
struct LossRequest {
  enum class Kind { CrossEntropy, SquaredError, BinaryCrossEntropy } kind;
  /// Names of an output and of an input. The input is added if the program has none of that name.
  std::string output, labels;
  double labelSmoothing = 0;
  int64_t ignoreIndex = -100;
};

/// Reads cross_entropy(OUTPUT,LABELS), mse(OUTPUT,LABELS) or bce(OUTPUT,LABELS); cross_entropy may also have
/// label_smoothing=NUMBER and ignore_index=INTEGER.
llvm::Expected<LossRequest> parseLoss(llvm::StringRef text);

/// log(sum(exp(x))) along the last dim.
mlir::Value logSumExp(tg::TensorBuilder &b, mlir::Value a);
/// The cross entropy of rows of logits and class numbers, with a share `smoothing` of each row's weight spread over all
/// classes.
mlir::Value crossEntropyOf(tg::TensorBuilder &b, mlir::Value logits, mlir::Value targets, tg::LossReduction reduction,
                           int64_t ignoreIndex, double smoothing);
mlir::Value squaredErrors(tg::TensorBuilder &b, mlir::Value prediction, mlir::Value target);
/// The cross entropies of independent logits and probabilities, one for each element.
mlir::Value binaryCrossEntropies(tg::TensorBuilder &b, mlir::Value logits, mlir::Value target);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_LOSSES_H
