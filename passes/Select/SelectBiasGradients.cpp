//===- SelectBiasGradients.cpp - bias gradients as GEMM epilogues ---------===//
//
// A bias gradient sums an operand of the matmul that computes the weight gradient, over the dims that this matmul
// contracts. A GEMM library that reads the operand anyway can compute the sum as an epilogue. At this stage reductions
// are still ops and matmuls are calls with final layouts. So it is known which sums a kernel could compute from values
// in its registers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/Reads.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#define GEN_PASS_DEF_SELECTBIASGRADIENTSPASS
#include "passes/Select/Passes.h"

using namespace mlir;
using namespace braid;

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

//===----------------------------------------------------------------------===//
// Sums that would be separate kernels
//===----------------------------------------------------------------------===//

/// Returns the conversion to a wider type that only `reduce` reads, or null.
static Operation *wideningOf(tg::ReduceOp reduce) {
  Value wide = reduce.getInput(), narrow = conversionSource(wide);
  bool isWidening = narrow && wide.hasOneUse() && elementOf(narrow).isBF16() && elementOf(wide).isF32();
  return isWidening ? wide.getDefiningOp() : nullptr;
}

/// Whether a kernel computes the results of `op`, not a call, collective or tie.
static bool isComputed(Operation *op) {
  return isa<exec::KernelOp>(op) || !isa<exec::ExecDialect, comm::CommDialect>(op->getDialect());
}

/// Whether a kernel would read `value` only for its sum: no kernel computes `value`, and no other kernel reads it.
static bool isReadForSum(Value value, Operation *sum) {
  Value root = rootOf(value);
  if (Operation *producer = root.getDefiningOp(); producer && isComputed(producer))
    return false;
  bool isAlone = true;
  forEachRead(root, [&](OpOperand &read) {
    Operation *reader = readerOf(read);
    isAlone &= reader == sum || reader->hasTrait<OpTrait::IsTerminator>() || !isComputed(reader);
  });
  return isAlone;
}

//===----------------------------------------------------------------------===//
// Matmuls that can compute the sum
//===----------------------------------------------------------------------===//

/// Whether the call is a single GEMM. Several GEMMs would each restart the sum.
static bool isSingleGemm(exec::MatmulOp matmul) {
  auto type = cast<RankedTensorType>(matmul.getResult().getType());
  FailureOr<MatmulShape> shape = matmulShape(matmul.getContraction(), exec::layoutOf(matmul.getLhs()),
                                             exec::layoutOf(matmul.getRhs()), exec::RefType::contiguous(type));
  return succeeded(shape) && shape->batch.empty() && shape->outer.empty();
}

/// Whether `matmul` contracts exactly the dims `dims` of its operand on `side`, and keeps one other dim of that
/// operand in its result.
static bool contracts(exec::MatmulOp matmul, exec::Side side, ArrayRef<int64_t> dims) {
  unsigned operand = side == exec::Side::Lhs ? 0 : 1;
  tg::ContractionAttr contraction = matmul.getContraction();
  return contraction.getBatch().empty() && ArrayRef(contraction.getContractedDims(operand)) == dims &&
         dims.size() + 1 == contraction.getOperand(operand).size();
}

/// Returns the side of `matmul` whose sum over the contracted dims equals `reduce` of `value`.
static std::optional<exec::Side> sideOf(exec::MatmulOp matmul, Value value, tg::ReduceOp reduce) {
  if (!matmul.isPlain() || elementOf(matmul.getResult()) != elementOf(reduce.getResult()) || !isSingleGemm(matmul))
    return {};
  for (exec::Side side : {exec::Side::Lhs, exec::Side::Rhs})
    if ((side == exec::Side::Lhs ? matmul.getLhs() : matmul.getRhs()) == value &&
        contracts(matmul, side, reduce.getDims()))
      return side;
  return {};
}

/// Returns the position for a call that computes both. It is the matmul's if all readers of the sum come later, else
/// the sum's if the matmul's operands are defined there, else null.
static Operation *placeOf(exec::MatmulOp matmul, tg::ReduceOp reduce) {
  Block *block = matmul->getBlock();
  bool isReadAfter = llvm::all_of(reduce->getUsers(), [&](Operation *user) {
    return matmul->isBeforeInBlock(block->findAncestorOpInBlock(*user));
  });
  if (isReadAfter)
    return matmul;
  bool areThere = llvm::all_of(matmul->getOperands(), [&](Value operand) {
    return !operand.getDefiningOp() || operand.getDefiningOp()->isBeforeInBlock(reduce);
  });
  return areThere ? reduce : nullptr;
}

static void moveIntoCall(exec::MatmulOp matmul, exec::Side side, tg::ReduceOp reduce, Operation *place) {
  OpBuilder builder(place);
  Value results[] = {matmul.getResult(), reduce.getResult()};
  auto both = builder.create<exec::MatmulOp>(
      tg::fusedLocation({matmul, reduce}, results), TypeRange(ValueRange(results)), matmul.getContraction(),
      matmul.getLhs(), matmul.getRhs(),
      /*bias=*/Value(), matmul.getAccumulator(), /*aux=*/Value(),
      /*addend=*/Value(), ValueRange(), exec::Epilogue::None, exec::SideAttr::get(builder.getContext(), side));
  matmul.getResult().replaceAllUsesWith(both.getWritten()[0]);
  reduce.replaceAllUsesWith(both.getWritten()[1]);
  Operation *widening = wideningOf(reduce);
  reduce.erase();
  if (widening)
    widening->erase();
  matmul.erase();
}

/// Whether the sum costs no more in the call than in kernels: one kernel reads the operand again, and one adds the
/// partial sums.
static bool paysOff(exec::MatmulOp matmul, Value summed, const ComputeRates &rates) {
  return rates.biasGradSeconds(matmul) <=
         rates.callSeconds(0, static_cast<double>(bytesOf(summed.getType()))) + rates.launchSeconds;
}

static void moveIntoCall(tg::ReduceOp reduce, const ComputeRates &rates) {
  Operation *widening = wideningOf(reduce);
  Value value = widening ? widening->getOperand(0) : reduce.getInput();
  if (reduce.getKind() != tg::ReduceKind::Sum || !isReadForSum(value, widening ? widening : reduce.getOperation()))
    return;
  for (Operation *user : value.getUsers()) {
    auto matmul = dyn_cast<exec::MatmulOp>(user);
    std::optional<exec::Side> side = matmul ? sideOf(matmul, value, reduce) : std::nullopt;
    if (!side)
      continue;
    if (Operation *place = paysOff(matmul, value, rates) ? placeOf(matmul, reduce) : nullptr)
      return moveIntoCall(matmul, *side, reduce, place);
  }
}

namespace {
struct SelectBiasGradientsPass : public braid::impl::SelectBiasGradientsPassBase<SelectBiasGradientsPass> {
  using SelectBiasGradientsPassBase::SelectBiasGradientsPassBase;

  void runOnOperation() final {
    FailureOr<Machine> machine = machineOf(getOperation());
    if (failed(machine))
      return signalPassFailure();
    if (!machine->target->biasGradEpilogue || getOperation().isExternal())
      return;
    for (auto reduce : llvm::make_early_inc_range(getOperation().getBody().front().getOps<tg::ReduceOp>()))
      moveIntoCall(reduce, machine->compute);
  }
};
} // namespace
