//===- SelectMatmul.cpp - contractions as GEMM calls or kernels -----------===//

#include "passes/Select/SelectMatmul.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Target/MatmulShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Select/InlineValues.h"
#include "passes/Select/SelectViews.h"

using namespace mlir;
using namespace braid;
using tg::ContractionAttr;
using tg::typeOf;

/// Returns the permutation from dims named `from` to the order `to`.
static SmallVector<int64_t> permutationTo(StringRef from, StringRef to) {
  return llvm::map_to_vector(to, [&](char letter) -> int64_t { return from.find(letter); });
}

//===----------------------------------------------------------------------===//
// Contractions that are not matmuls
//===----------------------------------------------------------------------===//

/// Broadcasts an operand with letters `letters` to `all` (of `shape`).
static Value spread(OpBuilder &builder, Location loc, Value value, StringRef letters, StringRef all,
                    ArrayRef<int64_t> shape) {
  std::string order;
  SmallVector<int64_t> dims;
  for (auto [dim, letter] : llvm::enumerate(all))
    if (letters.contains(letter)) {
      order += letter;
      dims.push_back(dim);
    }
  if (order != letters)
    value = transposed(builder, loc, value, permutationTo(letters, order));
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  return builder.createOrFold<tg::BroadcastOp>(loc, type, value, builder.getDenseI64ArrayAttr(dims));
}

Value braid::expandContraction(OpBuilder &builder, tg::ContractOp contract) {
  ContractionAttr dims = contract.getContraction();
  StringRef wanted = dims.getResult();
  std::string contracted = dims.getK();
  bool isDot = dims.getM().empty() && dims.getN().empty();
  bool isManyVectors = !dims.getBatch().empty() && dims.getM().empty() != dims.getN().empty();
  if (!isDot && !isManyVectors && !contracted.empty())
    return {};
  // Matrices keep their layout; otherwise the sum is over the last dims.
  unsigned matrix = dims.getM().empty();
  std::string all = isManyVectors ? dims.getOperand(matrix).str() : (wanted + contracted).str();
  SmallVector<int64_t> shape, summed;
  std::string left;
  for (auto [dim, letter] : llvm::enumerate(all)) {
    unsigned operand = dims.getLhs().contains(letter) ? 0 : 1;
    shape.push_back(typeOf(contract->getOperand(operand)).getDimSize(dims.getOperand(operand).find(letter)));
    if (wanted.contains(letter))
      left += letter;
    else
      summed.push_back(dim);
  }
  Location loc = contract.getLoc();
  tg::TensorBuilder t(builder, tg::withoutTensor(loc));
  // Rounds once, like a library call.
  Value lhs = t.widen(spread(builder, loc, contract.getLhs(), dims.getLhs(), all, shape));
  Value rhs = t.widen(spread(builder, loc, contract.getRhs(), dims.getRhs(), all, shape));
  Value products = t.mul(lhs, rhs);
  t.loc = loc;
  Value sum = t.convert(t.sum(products, summed), contract.getType().getElementType());
  return left == wanted ? sum : transposed(builder, loc, sum, permutationTo(left, wanted));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static FailureOr<MatmulShape> shapeOf(ContractionAttr dims, Value lhs, Value rhs, RankedTensorType result) {
  return matmulShape(dims, exec::layoutOf(lhs), exec::layoutOf(rhs), exec::RefType::contiguous(result));
}

/// Copies `value` to a new contiguous tensor with its dims in the order `to`.
static Value copyInOrder(OpBuilder &builder, Location loc, Value value, StringRef from, StringRef to) {
  Value view = transposed(builder, loc, value, permutationTo(from, to));
  return copyToMemory(builder, tg::withoutTensor(loc), "copy", view);
}

/// Copies operands until a GEMM supports them: tries the left, the right, both.
static void copyOperands(OpBuilder &builder, Location loc, ContractionAttr &dims, Value &lhs, Value &rhs,
                         RankedTensorType result) {
  if (succeeded(shapeOf(dims, lhs, rhs, result)))
    return;
  std::string left = dims.getBatch() + dims.getM() + dims.getK(), right = dims.getBatch() + dims.getK() + dims.getN();
  auto contiguous = [&](Value value, StringRef from, StringRef to) {
    // Only the layout of the copy matters here.
    SmallVector<int64_t> shape =
        llvm::map_to_vector(to, [&](char letter) { return typeOf(value).getDimSize(from.find(letter)); });
    return exec::RefType::contiguous(RankedTensorType::get(shape, typeOf(value).getElementType()));
  };
  exec::RefType out = exec::RefType::contiguous(result);
  bool copyLeft = succeeded(matmulShape(dims.withOperands(left, dims.getRhs()), contiguous(lhs, dims.getLhs(), left),
                                        exec::layoutOf(rhs), out));
  bool copyRight = !copyLeft;
  if (copyRight && failed(matmulShape(dims.withOperands(dims.getLhs(), right), exec::layoutOf(lhs),
                                      contiguous(rhs, dims.getRhs(), right), out)))
    copyLeft = true;
  if (copyLeft) {
    lhs = copyInOrder(builder, loc, lhs, dims.getLhs(), left);
    dims = dims.withOperands(left, dims.getRhs());
  }
  if (copyRight) {
    rhs = copyInOrder(builder, loc, rhs, dims.getRhs(), right);
    dims = dims.withOperands(dims.getLhs(), right);
  }
}

static exec::MatmulOp createMatmul(OpBuilder &builder, Location loc, ContractionAttr dims, Value lhs, Value rhs,
                                   Value bias, Value accumulator, Type result) {
  return builder.create<exec::MatmulOp>(loc, result, dims, lhs, rhs, bias, accumulator, ValueRange(),
                                        exec::Epilogue::None);
}

Value braid::selectMatmul(OpBuilder &builder, tg::ContractOp contract) {
  ContractionAttr dims = contract.getContraction();
  Location loc = contract.getLoc();
  Value lhs = broadcastAsView(builder, contract.getLhs()), rhs = broadcastAsView(builder, contract.getRhs());
  RankedTensorType type = typeOf(contract.getResult());
  StringRef wanted = contract.getContraction().getResult();
  std::string batch = dims.getBatch(), m = dims.getM(), n = dims.getN();
  // A GEMM writes batch, m, n (or batch, n, m); the result's unit stride decides.
  if (failed(shapeOf(dims, lhs, rhs, type)) && StringRef(batch).contains(wanted.back()))
    dims = dims.withResult(batch + m + n);
  SmallVector<int64_t> shape =
      llvm::map_to_vector(dims.getResult(), [&](char letter) { return type.getDimSize(wanted.find(letter)); });
  auto ordered = RankedTensorType::get(shape, type.getElementType());
  copyOperands(builder, loc, dims, lhs, rhs, ordered);
  Value result = createMatmul(builder, loc, dims, lhs, rhs, {}, {}, ordered).getResult();
  if (dims.getResult() != wanted)
    result = transposed(builder, loc, result, permutationTo(dims.getResult(), wanted));
  return result;
}

void braid::legalizeOperands(exec::MatmulOp matmul) {
  OpBuilder builder(matmul);
  ContractionAttr dims = matmul.getContraction();
  Value lhs = matmul.getLhs(), rhs = matmul.getRhs();
  copyOperands(builder, matmul.getLoc(), dims, lhs, rhs, typeOf(matmul.getResult()));
  matmul.getLhsMutable().assign(lhs);
  matmul.getRhsMutable().assign(rhs);
  matmul.setContractionAttr(dims);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

bool braid::supportsEpilogue(exec::MatmulOp matmul) {
  RankedTensorType type = typeOf(matmul.getResult());
  FailureOr<MatmulShape> shape = shapeOf(matmul.getContraction(), matmul.getLhs(), matmul.getRhs(), type);
  return succeeded(shape) && type.getRank() && shape->n == type.getShape().back() && shape->outer.empty() &&
         !matmul.getAccumulator() && !matmul.getAddend() && matmul.getEpilogue() == exec::Epilogue::None;
}

/// Returns the rank-1 tensor that `value` repeats along its last dim, or null.
static Value biasOf(Value value) {
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  if (!broadcast || broadcast.getDims() != ArrayRef<int64_t>{typeOf(value).getRank() - 1} ||
      broadcast.getInput().getType().getDimSize(0) != typeOf(value).getShape().back() ||
      isInlined(broadcast.getInput()) || !exec::layoutOf(broadcast.getInput()).isContiguous())
    return {};
  return broadcast.getInput();
}

exec::MatmulOp braid::fuseBias(arith::AddFOp add, const TargetInfo &target) {
  if (!target.biasEpilogue)
    return {};
  for (auto [sum, other] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto matmul = sum.getDefiningOp<exec::MatmulOp>();
    Value bias = biasOf(other);
    if (!matmul || !bias || matmul.getBias() || !matmul->hasOneUse() || !supportsEpilogue(matmul))
      continue;
    OpBuilder builder(add);
    auto fused = createMatmul(builder, tg::fusedLocation({matmul, add}, add.getResult()), matmul.getContraction(),
                              matmul.getLhs(), matmul.getRhs(), bias, {}, add.getType());
    add.replaceAllUsesWith(fused.getResult());
    add.erase();
    matmul.erase();
    return fused;
  }
  return {};
}

/// Whether the sum is the new value of a state.
static bool isUpdateOf(arith::AddFOp add, tg::StateAttr state) {
  return llvm::any_of(add->getUses(), [&](OpOperand &use) { return tg::updatedTensorName(use) == state.getName(); });
}

/// Whether only `add` reads `value` and the sum may reuse its memory: an action's result, or a state whose new value
/// is the sum. Rows of caches are replaced, so earlier reads of a cache and readers of the sum do not count.
static bool mayReuseMemoryIn(arith::AddFOp add, Value value) {
  if (!typeOf(value).getRank())
    return false;
  if (!isa<BlockArgument>(value))
    return value.hasOneUse() && !isInlined(value) && !value.getDefiningOp<exec::ViewOp>();
  tg::StateAttr state = tg::stateOf(value);
  if (!state)
    return false;
  if (state.isCache())
    return llvm::all_of(value.getUsers(), [&](Operation *user) { return user == add || user->isBeforeInBlock(add); });
  return value.hasOneUse() && add->hasOneUse() && isUpdateOf(add, state);
}

/// Returns the call that defines `value`, if it can accumulate.
static Operation *accumulatingCall(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse())
    return nullptr;
  if (auto matmul = dyn_cast<exec::MatmulOp>(op))
    return !matmul.getAccumulator() && !matmul.getAddend() && !matmul.getBias() &&
                   matmul.getEpilogue() == exec::Epilogue::None
               ? op
               : nullptr;
  auto scatter = dyn_cast<exec::ScatterAddOp>(op);
  return scatter && !scatter.getAccumulator() ? op : nullptr;
}

bool braid::fuseAccumulation(arith::AddFOp add) {
  for (auto [term, sum] : {std::pair(add.getRhs(), add.getLhs()), std::pair(add.getLhs(), add.getRhs())}) {
    Operation *call = accumulatingCall(term);
    if (!call || !mayReuseMemoryIn(add, sum))
      continue;
    OpBuilder builder(add);
    Location loc = tg::fusedLocation({call, add}, add.getResult());
    Operation *fused;
    if (auto matmul = dyn_cast<exec::MatmulOp>(call))
      fused =
          createMatmul(builder, loc, matmul.getContraction(), matmul.getLhs(), matmul.getRhs(), {}, sum, add.getType());
    else
      fused = builder.create<exec::ScatterAddOp>(loc, add.getType(), call->getOperand(0), call->getOperand(1), sum,
                                                 ValueRange());
    add->replaceAllUsesWith(fused);
    add.erase();
    call->erase();
    return true;
  }
  return false;
}
