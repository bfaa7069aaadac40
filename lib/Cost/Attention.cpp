//===- Attention.cpp - seconds of attention calls on GPUs -----------------===//

#include "lib/Cost/Attention.h"
#include "lib/Cost/Curve.h"

using namespace braid;

//===----------------------------------------------------------------------===//
// Published rates
//===----------------------------------------------------------------------===//

namespace {
/// TFLOP/s at sequence lengths from `first` on, each length twice the one before.
struct RateCurve {
  double first;
  llvm::ArrayRef<double> rates;
};

/// Rates by mask (none, causal) and head size (64, 128).
struct PassRates {
  RateCurve curves[2][2];
};

struct AttentionRates {
  /// First GPU architecture that the rates apply to.
  llvm::StringLiteral arch;
  /// TFLOP/s of bf16 on the data sheet of the measured card.
  double card;
  PassRates forward, backward;
};
} // namespace

// As in the sources, causal FLOPs count only the pairs that the mask keeps.
//
// A100: NVIDIA/cudnn-frontend, benchmark/attention_training/results/llama3.1/a100 of 2026-09-28 (A100 80GB PCIe, cuDNN
// 9.27, heads of 128).  Heads of 64 are assumed to reach the same, as FlashAttention-2 does on an RTX 4090, to within
// 6 % (apache/tvm, tl_doc/flash_perf.md).
static constexpr double a100Forward[] = {191, 198, 186, 182}, a100ForwardCausal[] = {155, 174, 177, 173};
static constexpr double a100Backward[] = {135, 144, 142, 144}, a100BackwardCausal[] = {109, 128, 136, 139};
// H100, heads of 64, and of 128 below 2048 positions: the bars of cuDNN 9 in figures 5 and 6 of FlashAttention-3 (Shah
// et al. 2024, arXiv:2407.08608; H100 SXM5).  Figure 6 has no mask.  With one, the backward pass of heads of 64 was
// measured on an H100 at 700 W in training steps, with cuDNN 9.19, at 1,024 and 4,096 positions (206 and 303). At
// other lengths the mask loses as much as in the forward pass, less what was measured.  Heads of 128 are assumed to
// lose as much as the forward pass.  From 2048 on, heads of 128: cudnn-frontend, as above, h200 (cuDNN 9.27); an H200
// has the multiprocessors of an H100.
static constexpr double h100Forward64[] = {335, 373, 395, 408, 412, 413};
static constexpr double h100ForwardCausal64[] = {225, 288, 334, 363, 379, 388};
static constexpr double h100Backward64[] = {266, 348, 395, 417, 432, 433};
static constexpr double h100BackwardCausal64[] = {137, 206, 264, 303, 324, 332};
static constexpr double h100Forward[] = {497, 574, 660, 687, 701, 640};
static constexpr double h100ForwardCausal[] = {315, 410, 534, 616, 655, 633};
static constexpr double h100Backward[] = {305, 408, 519, 576, 562, 549};
static constexpr double h100BackwardCausal[] = {193, 291, 402, 495, 526, 539};
// B200: cudnn-frontend, benchmark/sdpa_benchmark_training/results/llama3.1/gb200 of 2026-04-24 (GB200, 2,500 TFLOP/s
// dense; cuDNN 9.22).  Heads of 64 are assumed to reach 0.7 of it, as FlashAttention-4 does on a B200
// (Dao-AILab/flash-attention#2605).
static constexpr double b200Forward64[] = {1003, 1119, 1240, 1188}, b200ForwardCausal64[] = {768, 986, 1102, 1196};
static constexpr double b200Backward64[] = {787, 945, 983, 962}, b200BackwardCausal64[] = {620, 804, 932, 930};
static constexpr double b200Forward[] = {1433, 1599, 1771, 1697}, b200ForwardCausal[] = {1097, 1408, 1574, 1708};
static constexpr double b200Backward[] = {1124, 1350, 1404, 1374}, b200BackwardCausal[] = {885, 1148, 1332, 1328};
// sm_120: cudnn-frontend, benchmark/attention_training, rtxpro6000 (RTX PRO 6000, 466 TFLOP/s there; cuDNN 9.27), heads
// of 128.  Heads of 64 as on an A100.
static constexpr double rtxForward[] = {353, 399, 409, 389}, rtxForwardCausal[] = {291, 363, 394, 390};
static constexpr double rtxBackward[] = {238, 269, 288, 293}, rtxBackwardCausal[] = {180, 221, 248, 260};

static const AttentionRates published[] = {
    {"sm_80",
     312,
     {{{{2048, a100Forward}, {2048, a100Forward}}, {{2048, a100ForwardCausal}, {2048, a100ForwardCausal}}}},
     {{{{2048, a100Backward}, {2048, a100Backward}}, {{2048, a100BackwardCausal}, {2048, a100BackwardCausal}}}}},
    {"sm_90",
     989,
     {{{{512, h100Forward64}, {512, h100Forward}}, {{512, h100ForwardCausal64}, {512, h100ForwardCausal}}}},
     {{{{512, h100Backward64}, {512, h100Backward}}, {{512, h100BackwardCausal64}, {512, h100BackwardCausal}}}}},
    {"sm_100",
     2500,
     {{{{2048, b200Forward64}, {2048, b200Forward}}, {{2048, b200ForwardCausal64}, {2048, b200ForwardCausal}}}},
     {{{{2048, b200Backward64}, {2048, b200Backward}}, {{2048, b200BackwardCausal64}, {2048, b200BackwardCausal}}}}},
    {"sm_120",
     466,
     {{{{2048, rtxForward}, {2048, rtxForward}}, {{2048, rtxForwardCausal}, {2048, rtxForwardCausal}}}},
     {{{{2048, rtxBackward}, {2048, rtxBackward}}, {{2048, rtxBackwardCausal}, {2048, rtxBackwardCausal}}}}},
};

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

/// Returns the rates of a GPU. A GPU without published rates is assumed to reach the same share of its data
/// sheet as the last architecture before it.
static const AttentionRates &ratesOf(const GpuInfo &gpu) {
  const AttentionRates *found = published;
  for (const AttentionRates &rates : published)
    if (isSameOrOlder(rates.arch, gpu.arch))
      found = &rates;
  return *found;
}

/// Interpolates between two lengths linearly in the logarithms. Shorter sequences extrapolate from the first points;
/// longer ones have the last rate.
static double rateAt(const RateCurve &curve, double positions) {
  double place = std::log2(positions / curve.first), last = curve.rates.size() - 1;
  size_t below = std::clamp(std::floor(place), 0.0, last - 1);
  double rate = std::log(curve.rates[below]), next = std::log(curve.rates[below + 1]);
  return std::exp(rate + (std::min(place, last) - below) * (next - rate));
}

/// Interpolates between heads of 64 and of 128 in the same way; other sizes have the rate of the nearer one.
static double rateOf(const GpuInfo &gpu, const AttentionWork &work) {
  const AttentionRates &rates = ratesOf(gpu);
  const auto &curves = (work.isBackward ? rates.backward : rates.forward).curves[work.isCausal];
  double small = rateAt(curves[0], work.positions), large = rateAt(curves[1], work.positions);
  double weight = std::clamp(std::log2(work.headSize / 64.0), 0.0, 1.0);
  return std::pow(small, 1 - weight) * std::pow(large, weight) * 1e12 * gpu.bf16Flops / (rates.card * 1e12);
}

/// Time of a fixed order without scores in memory, relative to any order: cuDNN's on a GB200, source as above.
static constexpr double kFixedWithoutScores = 1.15;

/// A fixed order with scores in memory leaves one of five matmuls to a second kernel. Reading the scores bounds its
/// time; the first kernel writes them. With the data sheet's bandwidth this is within 4 % of what cudnn-frontend
/// publishes for an H200 at 2,048 to 16,384 positions with and without a mask, and within 9 % for an A100. Nothing is
/// published about the serial order: it counts as any order.
AttentionSeconds braid::attentionSeconds(const GpuInfo &gpu, const AttentionWork &work) {
  double seconds = work.flops / rateOf(gpu, work);
  if (!work.isBackward || work.order != exec::SumOrder::Fixed)
    return {seconds, 0};
  if (!gpu.attentionSums.fixedTakesScores)
    return {kFixedWithoutScores * seconds, 0};
  return {0.8 * seconds, 2 * work.scoreBytes / gpu.bytesPerSecond};
}
