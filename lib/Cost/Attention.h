//===- Attention.h - seconds of attention calls on GPUs ---------*- C++ -*-===//
//
// Rates of cuDNN, as published (sources in Attention.cpp), by pass, mask, head size and length.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_COST_ATTENTION_H
#define BRAID_LIB_COST_ATTENTION_H

#include "dialects/Exec/Exec.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// A library call of attention, in bf16.
struct AttentionWork {
  bool isBackward, isCausal;
  int64_t positions, headSize;
  /// FLOPs of matmuls, and bytes of scores, for the pairs that the mask keeps.
  double flops, scoreBytes;
  /// Order in which gradients are summed.
  exec::SumOrder order = exec::SumOrder::Any;
};

/// Seconds without the launch. In `scratch` seconds, kernels of one call pass scores to each other through memory.
struct AttentionSeconds {
  double matrix, scratch;
};

AttentionSeconds attentionSeconds(const GpuInfo &gpu, const AttentionWork &work);

} // namespace braid

#endif // BRAID_LIB_COST_ATTENTION_H
