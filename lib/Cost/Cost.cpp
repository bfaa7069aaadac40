//===- Cost.cpp - seconds of actions and of collectives -------------------===//

#include "lib/Cost/Cost.h"
#include "dialects/TG/TG.h"
#include "lib/Cost/Attention.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

ComputeRates ComputeRates::of(const TargetInfo &target) {
  const TargetRates &rates = target.rates;
  return {rates.matrixFlops,
          rates.halfMatrixFlops,
          rates.vectorFlops,
          rates.bytesPerSecond,
          rates.launchSeconds,
          target.gpu,
          target.gpu ? target.gpu->biasGradSlowdown : 1};
}

void ComputeRates::replace(double flops, double bytes) {
  vectorFlops *= flops / matrixFlops;
  matrixFlops = halfMatrixFlops = flops;
  bytesPerSecond = bytes;
  gpu = nullptr;
}

double ComputeRates::productSeconds(const GemmSizes &sizes, GemmType type) const {
  if (std::optional<double> seconds = gpu ? gemmSeconds(*gpu, type, sizes) : std::nullopt)
    return std::max(*seconds - launchSeconds, 0.0);
  return sizes.flops() / (type == GemmType::Float ? matrixFlops : halfMatrixFlops);
}

static RankedTensorType tensorOf(Value value) { return exec::tensorOf(value.getType()); }

GemmCall braid::gemmOf(Operation *op) {
  auto call = [](tg::ContractionAttr contraction, Value lhs, Value rhs, Value result) {
    RankedTensorType left = tensorOf(lhs), right = tensorOf(rhs);
    return GemmCall{GemmSizes::of(contraction, left, right),
                    gemmTypeOf(left.getElementType(), tensorOf(result).getElementType())};
  };
  if (auto contract = dyn_cast<tg::ContractOp>(op))
    return call(contract.getContraction(), contract.getLhs(), contract.getRhs(), contract.getResult());
  auto matmul = cast<exec::MatmulOp>(op);
  Value result = matmul.getOuts().empty() ? matmul.getResult() : matmul.getOuts().front();
  return call(matmul.getContraction(), matmul.getLhs(), matmul.getRhs(), result);
}

/// Returns the work of an attention call; `Op` is an op of `tg`, or an action.
template <typename Op> static AttentionWork attentionWork(Op op, double flops, bool isBackward) {
  RankedTensorType query = tensorOf(op.getQuery());
  int64_t keys = tensorOf(op.getKey()).getDimSize(1), matmuls = isBackward ? 5 : 2;
  double pairs = flops / (2.0 * matmuls * query.getDimSize(3));
  return {isBackward, op.getMask().getCausal(), keys, query.getDimSize(3), flops, 2 * pairs};
}

/// Returns the work; no value if the op is not attention or no library computes it.
static std::optional<AttentionWork> attentionWork(Operation *op) {
  auto isOfLibrary = [](auto op) { return tensorOf(op.getQuery()).getElementType().isBF16(); };
  auto flopsOf = [](Operation *op) { return static_cast<double>(cast<CostOpInterface>(op).getFlops()); };
  if (auto forward = dyn_cast<tg::AttentionOp>(op); forward && isOfLibrary(forward))
    return attentionWork(forward, flopsOf(op), /*isBackward=*/false);
  if (auto backward = dyn_cast<tg::AttentionGradOp>(op); backward && isOfLibrary(backward))
    return attentionWork(backward, flopsOf(op), /*isBackward=*/true);
  if (auto forward = dyn_cast<exec::AttentionOp>(op); forward && !forward.getTiles())
    return attentionWork(forward, forward.getActionCost().matrixFlops, /*isBackward=*/false);
  if (auto backward = dyn_cast<exec::AttentionGradOp>(op); backward && !backward.getTiles()) {
    AttentionWork work = attentionWork(backward, backward.getActionCost().matrixFlops, /*isBackward=*/true);
    work.order = backward.getOrder();
    return work;
  }
  return std::nullopt;
}

double ComputeRates::productSeconds(Operation *op) const {
  if (isa<tg::ContractOp, exec::MatmulOp>(op)) {
    auto [sizes, type] = gemmOf(op);
    auto matmul = dyn_cast<exec::MatmulOp>(op);
    return productSeconds(sizes, type) + (matmul && matmul.getBiasGrad() ? biasGradSeconds(matmul) : 0);
  }
  if (std::optional<AttentionWork> work = gpu ? attentionWork(op) : std::nullopt) {
    AttentionSeconds seconds = attentionSeconds(*gpu, *work);
    return seconds.matrix + seconds.scratch;
  }
  auto cost = dyn_cast<CostOpInterface>(op);
  bool isHalf = getElementTypeOrSelf(op->getOperand(0)).isBF16();
  return static_cast<double>(cost ? cost.getFlops() : defaultFlops(op)) / (isHalf ? halfMatrixFlops : matrixFlops);
}

double ComputeRates::biasGradSeconds(exec::MatmulOp matmul) const {
  if (!tensorOf(matmul.getLhs()).getElementType().isBF16())
    return 0;
  return (biasGradSlowdown - 1) * matmul.getActionCost().matrixFlops / halfMatrixFlops;
}

ActionSeconds ComputeRates::parts(exec::ActionOpInterface action) const {
  exec::ActionCost cost = action.getActionCost();
  double bytes = static_cast<double>(cost.bytesRead + cost.bytesWritten);
  ActionSeconds seconds = {launchSeconds, 0, cost.vectorFlops / vectorFlops, bytes / bytesPerSecond};
  if (isa<exec::MatmulOp>(action.getOperation())) {
    seconds.matrix = productSeconds(action);
  } else if (std::optional<AttentionWork> work = gpu ? attentionWork(action) : std::nullopt) {
    // The published rates already include exponentials and scratch memory.
    auto [matrix, scratch] = attentionSeconds(*gpu, *work);
    exec::ActionCost moving = exec::detail::dataMovementCost(action);
    return {launchSeconds, matrix, 0, (moving.bytesRead + moving.bytesWritten) / bytesPerSecond, scratch};
  } else if (cost.matrixFlops) {
    bool isHalf = !cost.matmulsRunInF32 && tensorOf(action.getActionIns()[0]).getElementType().isBF16();
    seconds.matrix = cost.matrixFlops / (isHalf ? halfMatrixFlops : matrixFlops);
  }
  return seconds;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

double LinkRates::seconds(comm::CollectiveOpInterface op, int64_t ranks) const {
  if (ranks <= 1)
    return 0;
  return op.getRow().messages(ranks) * latencySeconds + op.getBytesSent(ranks) / bytesPerSecond;
}

//===----------------------------------------------------------------------===//
// Copies from and to the host
//===----------------------------------------------------------------------===//

double HostRates::seconds(comm::CopyOp op) const {
  int64_t bytes = 0;
  for (mlir::Type type : op.getIns().getTypes())
    bytes += bytesOf(mlir::TypeRange(exec::tensorOf(type)));
  return op.getIns().size() * latencySeconds + bytes / bytesPerSecond;
}
