//===- Gemm.cpp - seconds of GEMMs on GPUs --------------------------------===//
//
// A table for each architecture, with the times that NVIDIA's model predicts for the kernels of its first card
// (bench/matmul_table.py). Other cards of the architecture are assumed to reach the same share of their FLOPs. A point
// is a whole number of waves of 128 x 128 tiles (one tile per multiprocessor), a ratio of rows to columns, and a k.
// Seconds are linear in waves, in k, and in the logarithm of the ratio. A partial last wave counts as a whole one,
// unless k is long enough to split.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Cost.h"
#include "lib/Cost/Curve.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

GemmSizes GemmSizes::of(tg::ContractionAttr contraction, RankedTensorType lhs, RankedTensorType rhs) {
  auto sizeOf = [&](StringRef letters, StringRef operand, RankedTensorType type) {
    int64_t size = 1;
    for (char letter : letters)
      size *= type.getDimSize(operand.find(letter));
    return size;
  };
  StringRef left = contraction.getLhs(), right = contraction.getRhs();
  return {sizeOf(contraction.getM(), left, lhs), sizeOf(contraction.getN(), right, rhs),
          sizeOf(contraction.getK(), left, lhs), sizeOf(contraction.getBatch(), left, lhs)};
}

GemmType braid::gemmTypeOf(Type operand, Type result) {
  return !operand.isBF16() ? GemmType::Float : result.isBF16() ? GemmType::Half : GemmType::HalfToFloat;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static constexpr double waveCounts[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
static constexpr double ratios[] = {0x1p-8, 0x1p-6, 0x1p-4, 0x1p-2, 1, 0x1p2, 0x1p4, 0x1p6, 0x1p8};
static constexpr double depths[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static constexpr size_t numPoints = std::size(waveCounts) * std::size(ratios) * std::size(depths);

namespace {
struct GemmTable {
  llvm::StringLiteral arch;
  /// TFLOP/s by type, waves, ratio and k.
  float rates[3 * numPoints];
};
} // namespace

static constexpr GemmTable tables[] = {
    {"sm_80",
     {
#include "lib/Cost/GemmRates/sm_80.inc"
     }},
    {"sm_86",
     {
#include "lib/Cost/GemmRates/sm_86.inc"
     }},
    {"sm_89",
     {
#include "lib/Cost/GemmRates/sm_89.inc"
     }},
    {"sm_90",
     {
#include "lib/Cost/GemmRates/sm_90.inc"
     }},
    {"sm_100",
     {
#include "lib/Cost/GemmRates/sm_100.inc"
     }},
    {"sm_120",
     {
#include "lib/Cost/GemmRates/sm_120.inc"
     }},
};

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

static constexpr int64_t kTile = 128;
/// Limits of splitting k: at most kMaxParts parts, of at least kMinDepth each. Adding the parts up makes the
/// time longer by this factor. Chosen for the smallest error against the model.
static constexpr int64_t kMaxParts = 8, kMinDepth = 2048;
static constexpr double kSplitSlowdown = 1.2;

namespace {
class Waves {
public:
  /// `share` are the card's FLOPs, relative to those of the table's card.
  Waves(const GpuInfo &gpu, const GemmTable &table, GemmType type, double share)
      : rates(table.rates + static_cast<size_t>(type) * numPoints),
        flopsOfWave(2.0 * gpu.multiprocessors * kTile * kTile / share) {}

  double seconds(double waves, double ratio, double k) const {
    CurvePlace atWaves = locateOnCurve(waveCounts, std::max(waves, 1.0)),
               atDepth = locateOnCurve(depths, std::max(k, depths[0]));
    CurvePlace atRatio = locateOnLogCurve(ratios, ratio);
    return atWaves.mix([&](size_t wave) {
      return atRatio.mix(
          [&](size_t shape) { return atDepth.mix([&](size_t depth) { return secondsAt(wave, shape, depth); }); });
    });
  }

private:
  double secondsAt(size_t wave, size_t shape, size_t depth) const {
    double rate = rates[(wave * std::size(ratios) + shape) * std::size(depths) + depth];
    return waveCounts[wave] * flopsOfWave * depths[depth] / (rate * 1e12);
  }

  const float *rates;
  double flopsOfWave;
};
} // namespace

std::optional<double> braid::gemmSeconds(const GpuInfo &gpu, GemmType type, const GemmSizes &sizes) {
  const GemmTable *table = llvm::find_if(tables, [&](const GemmTable &table) { return table.arch == gpu.arch; });
  if (table == std::end(tables))
    return std::nullopt;
  const GpuInfo &measured = firstOfArch(gpu);
  double share = type == GemmType::Float ? gpu.f32Flops / measured.f32Flops : gpu.bf16Flops / measured.bf16Flops;
  Waves waves(gpu, *table, type, share);
  // Independent products are stacked as rows.
  double rows = llvm::divideCeil(sizes.m, kTile) * sizes.items, columns = llvm::divideCeil(sizes.n, kTile);
  double needed = rows * columns / gpu.multiprocessors;
  double seconds = waves.seconds(std::ceil(needed), rows / columns, sizes.k);
  for (int64_t parts = 2; parts <= kMaxParts && sizes.k / parts >= kMinDepth; ++parts)
    seconds = std::min(seconds, kSplitSlowdown * waves.seconds(std::ceil(needed * parts), rows / columns,
                                                               static_cast<double>(sizes.k) / parts));
  return seconds;
}
