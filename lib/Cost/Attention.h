//===- Attention.h - seconds of calls of attention on GPUs -------*- C++ -*-===//
//
// The rates that cuDNN reaches, as published (sources in Attention.cpp), by pass, mask, head size and length.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_COST_ATTENTION_H
#define BRAID_LIB_COST_ATTENTION_H

#include "dialects/Exec/Exec.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// A library's call of attention, in bf16.
struct AttentionWork {
  bool isBackward, isCausal;
  int64_t positions, headSize;
  /// FLOPs of matmuls, and bytes of scores, of the pairs that the mask leaves.
  double flops, scoreBytes;
  /// The order in which gradients are summed.
  exec::SumOrder order = exec::SumOrder::Any;
};

/// Seconds without the launch.  `scratch` is the part in which kernels of one call pass scores on through memory.
struct AttentionSeconds {
  double matrix, scratch;
};

AttentionSeconds attentionSeconds(const GpuInfo &gpu, const AttentionWork &work);

} // namespace braid

#endif // BRAID_LIB_COST_ATTENTION_H
