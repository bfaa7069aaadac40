//===- Cost.h - seconds of actions and of collectives ----------*- C++ -*--===//
//
// A prediction that orders alternatives, not a measurement:
//
//   action       launch + max(products + vector FLOPs / rate, bytes / rate)
//   collective   messages × latency + bytes sent / bandwidth
//   copy         tensors × latency + bytes / bandwidth between the host and its device
//
// Products of matrices take FLOPs / rate on a CPU, and wherever rates are given.  On a GPU, tables give the seconds
// of a GEMM, and published rates those of a library's attention call (Attention.h).
// The kind of a collective determines its messages and bytes (runtime/CollectiveKinds.h).  A group of one rank
// costs nothing.  The runtime emulates a link with the same formula (runtime/comm/LinkModel.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_COST_COST_H
#define BRAID_LIB_COST_COST_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Attributes.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace braid {

/// `items` products of m x k by k x n.
struct GemmSizes {
  int64_t m = 1, n = 1, k = 1, items = 1;

  static GemmSizes of(tg::ContractionAttr contraction, mlir::RankedTensorType lhs, mlir::RankedTensorType rhs);
  double flops() const { return 2.0 * m * n * k * items; }
};

/// Types of operands and result: bf16, bf16 with a result in f32, or f32.
enum class GemmType { Half, HalfToFloat, Float };

GemmType gemmTypeOf(mlir::Type operand, mlir::Type result);

/// Returns the seconds of a GEMM with its launch; no value for a GPU without a table.
std::optional<double> gemmSeconds(const GpuInfo &gpu, GemmType type, const GemmSizes &sizes);

/// Predicted seconds of an action that runs alone. `scratch` is the traffic between the kernels of one call, which
/// nothing overlaps.
struct ActionSeconds {
  double launch, matrix, vector, memory, scratch = 0;

  double total() const { return launch + std::max(matrix + vector, memory) + scratch; }
};

struct GemmCall {
  GemmSizes sizes;
  GemmType type;
};

/// Returns the GEMM of a `tg.contract` or an `exec.matmul`.
GemmCall gemmOf(mlir::Operation *op);

/// Compute rates of one rank, per second.
struct ComputeRates {
  double matrixFlops, halfMatrixFlops, vectorFlops, bytesPerSecond, launchSeconds;
  /// GPU whose tables give the time of matrix products; null: use the rates above.
  const GpuInfo *gpu;
  /// Time of a bf16 GEMM that also sums an operand, relative to the GEMM alone.
  double biasGradSlowdown = 1;

  static ComputeRates of(const TargetInfo &target);
  /// Replaces the rates of GEMMs and attention of any type and size, and of memory traffic. The rate of vector code
  /// scales with the rate of GEMMs.
  void replace(double flops, double bytes);

  ActionSeconds parts(exec::ActionOpInterface action) const;
  double seconds(exec::ActionOpInterface action) const { return parts(action).total(); }
  /// Seconds of a GEMM's products, without its launch and its traffic.
  double productSeconds(const GemmSizes &sizes, GemmType type) const;
  /// Seconds of the products of an op that contracts or is attention, of any dialect.
  double productSeconds(mlir::Operation *op) const;
  /// Additional seconds of a GEMM that also sums an operand for the gradient of a bias.
  double biasGradSeconds(exec::MatmulOp matmul) const;
  /// Seconds of a call with `products` seconds of matrix products that moves `bytes`.
  double callSeconds(double products, double bytes) const {
    return launchSeconds + std::max(products, bytes / bytesPerSecond);
  }
};

/// Latency and bandwidth between two ranks.
struct LinkRates {
  double latencySeconds, bytesPerSecond;

  /// Link between ranks that share a machine.
  static LinkRates of(const TargetInfo &target) { return {target.rates.linkLatency, target.rates.linkBytesPerSecond}; }

  double seconds(comm::CollectiveOpInterface op, int64_t ranks) const;
  /// Bytes that are sent within one latency, at most 1 TiB.
  int64_t bytesPerLatency() const { return static_cast<int64_t>(std::min(latencySeconds * bytesPerSecond, 0x1p40)); }
};

/// Latency and bandwidth between the host's memory and its device's, in either direction.
struct HostRates {
  double latencySeconds, bytesPerSecond;

  static HostRates of(const TargetInfo &target) { return {target.rates.hostLatency, target.rates.hostBytesPerSecond}; }

  double seconds(comm::CopyOp op) const;
  /// Seconds of a copy of one tensor.
  double seconds(int64_t bytes) const { return latencySeconds + bytes / bytesPerSecond; }
  /// Bytes that are moved within one latency.
  int64_t bytesPerLatency() const { return static_cast<int64_t>(latencySeconds * bytesPerSecond); }
};

/// Returns "12.5 us", for times that are compared in one message.
inline std::string formatMicroseconds(double seconds) { return llvm::formatv("{0:F1} us", seconds * 1e6); }

} // namespace braid

#endif // BRAID_LIB_COST_COST_H
