//===- Matmul.cpp - a contraction as one call of the GEMM library ---------===//
//
// The two main operands are those of an einsum. All other operands, and the second result,
// belong to the epilogues of GEMM libraries. Operands may have any layout that the library
// supports, except that some epilogues need a single matrix.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/ActionForm.h"
#include "dialects/Exec/Exec.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

//===----------------------------------------------------------------------===//
// The action
//===----------------------------------------------------------------------===//

void MatmulOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  collectEffects(*this, effects);
}
OperandRange MatmulOp::getActionIns() { return getOperation()->getOperands().drop_back(getOuts().size()); }
OperandRange MatmulOp::getActionOuts() { return getOuts(); }
std::string MatmulOp::getActionName() { return "matmul"; }

void MatmulOp::build(OpBuilder &builder, OperationState &state, Type result, tg::ContractionAttr contraction, Value lhs,
                     Value rhs, Value bias, Value accumulator, ValueRange outs, Epilogue epilogue) {
  build(builder, state, TypeRange(result), contraction, lhs, rhs, bias, accumulator, /*aux=*/Value(),
        /*addend=*/Value(), outs, epilogue, /*biasGrad=*/SideAttr());
}

int64_t MatmulOp::getTiedIn(unsigned result) { return result == 0 && getAccumulator() ? 2 + (getBias() ? 1 : 0) : -1; }

/// Each element of the addend is read right before the same element of the result is written.
bool MatmulOp::mayWriteInPlace(unsigned result, unsigned in) {
  return result == 0 && getAddend() && in + 1 == getActionIns().size();
}

/// Returns the sizes of the GEMM if all its dims collapse: m, n, k and the number of products.
static MatmulSizes sizesOf(MatmulOp op) {
  tg::ContractionAttr dims = op.getContraction();
  RankedTensorType lhs = tensorOf(op.getLhs().getType()), rhs = tensorOf(op.getRhs().getType());
  MatmulSizes sizes{1, 1, 1, 1, elementBytes(lhs.getElementType())};
  for (auto [letter, size] : llvm::zip(dims.getLhs(), lhs.getShape()))
    (dims.isContracted(letter) ? sizes.k : dims.getRhs().contains(letter) ? sizes.items : sizes.m) *= size;
  for (auto [letter, size] : llvm::zip(dims.getRhs(), rhs.getShape()))
    if (!dims.getLhs().contains(letter))
      sizes.n *= size;
  return sizes;
}

int64_t MatmulOp::getWorkspaceBytes(const WorkspaceRule &rule) {
  return rule.dependsOnShape ? matmulWorkspace(sizesOf(*this), rule.matmul) : rule.matmul;
}

SmallVector<LibraryNumber> MatmulOp::getLibraryNumbers(const WorkspaceRule &) {
  MatmulSizes sizes = sizesOf(*this);
  std::string of = " of the GEMM of \"" + getContraction().getSpec() + "\"";
  return {{"rows" + of, sizes.m},
          {"columns" + of, sizes.n},
          {"contracted terms" + of, sizes.k},
          {"matrices in the batch" + of, sizes.items}};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the element type of the result: the operands' type, or f32 if a matmul of bf16 keeps its sums.
static Type accumulatorType(MatmulOp op, Type multiplied) {
  SmallVector<Type> written(op->getResultTypes());
  llvm::append_range(written, op.getOuts().getTypes());
  bool isWide = multiplied.isBF16() && !written.empty() && tensorOf(written[0]).getElementType().isF32();
  return isWide ? tensorOf(written[0]).getElementType() : multiplied;
}

/// Verifies the input of GELU, which the forward call writes and the gradient call reads.
static LogicalResult verifyAux(MatmulOp op, RankedTensorType expected) {
  bool isGrad = op.getEpilogue() == Epilogue::GeluTanhGrad;
  if (static_cast<bool>(op.getAux()) != isGrad)
    return op.emitOpError() << (isGrad ? "needs 'aux', the input of the gelu_tanh whose gradient it computes"
                                       : "has 'aux', which only epilogue gelu_tanh_grad reads");
  if (isGrad && tensorOf(op.getAux().getType()) != expected)
    return op.emitOpError() << "aux is " << tensorOf(op.getAux().getType()) << " but the result is " << expected;
  if (isGrad && (op.getBias() || op.getAccumulator()))
    return op.emitOpError() << "has epilogue gelu_tanh_grad with a bias or an accumulator, which no library combines";
  if (!op.keepsInput())
    return success();
  if (op.getEpilogue() != Epilogue::GeluTanh)
    return op.emitOpError() << "keeps the input of epilogue " << stringifyEpilogue(op.getEpilogue())
                            << "; only the input of gelu_tanh can be kept";
  RankedTensorType kept = tensorOf(op.getOuts().empty() ? op.getWritten()[1].getType() : op.getOuts()[1].getType());
  if (kept != expected)
    return op.emitOpError() << "keeps " << kept << " but the result is " << expected;
  return success();
}

/// Verifies the addend of the product: it has the result's type and excludes other operands and epilogues,
/// except a bias.
static LogicalResult verifyAddend(MatmulOp op, RankedTensorType expected) {
  if (!op.getAddend())
    return success();
  if (op.getAccumulator() || op.getAux() || op.getBiasGrad() || op.getEpilogue() != Epilogue::None)
    return op.emitOpError() << "has an addend with " << (op.getAccumulator() ? "an accumulator" : "an epilogue")
                            << "; an addend can only be combined with a bias";
  if (tensorOf(op.getAddend().getType()) != expected)
    return op.emitOpError() << "addend is " << tensorOf(op.getAddend().getType()) << " but the result is " << expected;
  return success();
}

/// Verifies the sum of an operand over the contracted dims, which must leave one dim.
static LogicalResult verifyBiasGrad(MatmulOp op, RankedTensorType expected) {
  if (!op.getBiasGrad())
    return success();
  if (op.getBias() || op.getAux() || op.getEpilogue() != Epilogue::None)
    return op.emitOpError() << "has bias_grad with a bias or an epilogue, which no library combines";
  tg::ContractionAttr dims = op.getContraction();
  StringRef letters = dims.getOperand(*op.getBiasGrad() == exec::Side::Lhs ? 0 : 1);
  std::string batch = dims.getBatch();
  SmallVector<int64_t> left;
  for (auto [letter, size] : llvm::zip(letters, tensorOf(op.getSummed().getType()).getShape()))
    if (!dims.isContracted(letter)) {
      left.push_back(size);
      if (StringRef(batch).contains(letter))
        return op.emitOpError() << "has bias_grad of '" << letters << "', but '" << StringRef(&letter, 1) << "' of \""
                                << dims.getSpec() << "\" is in both operands and the result";
    }
  if (left.size() != 1)
    return op.emitOpError() << "has bias_grad of '" << letters << "', of which \"" << dims.getSpec() << "\" keeps "
                            << left.size() << " dims; the sum must have one";
  auto sum = RankedTensorType::get(left, expected.getElementType());
  RankedTensorType found = tensorOf(op.getOuts().empty() ? op.getWritten()[1].getType() : op.getOuts()[1].getType());
  if (found != sum)
    return op.emitOpError() << "writes " << found << " as the gradient of a bias but its operands make " << sum;
  return success();
}

LogicalResult MatmulOp::verify() {
  RankedTensorType left = tensorOf(getLhs().getType()), right = tensorOf(getRhs().getType());
  llvm::Expected<SmallVector<int64_t>> found = getContraction().getResultShape(left, right);
  if (!found)
    return emitOpError() << llvm::toString(found.takeError());
  ArrayRef<int64_t> shape = *found;
  auto expected = RankedTensorType::get(shape, accumulatorType(*this, left.getElementType()));
  if (getBias()) {
    RankedTensorType bias = tensorOf(getBias().getType());
    if (shape.empty() || bias.getShape() != shape.take_back())
      return emitOpError() << "bias " << bias << " does not fit the last dim of " << expected;
  }
  if (getAccumulator() && tensorOf(getAccumulator().getType()) != expected)
    return emitOpError() << "accumulator is " << tensorOf(getAccumulator().getType()) << " but the result is "
                         << expected;
  if (failed(verifyAddend(*this, expected)) || failed(verifyAux(*this, expected)) ||
      failed(checkForm(*this, expected, keepsInput() || getBiasGrad() ? 2 : 1)))
    return failure();
  return verifyBiasGrad(*this, expected);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Only the last dim must be contiguous, because other dims can become loops. A result
/// beside a kept GELU input, or beside a bias gradient, must be one matrix.
bool MatmulOp::mayWriteStrided(unsigned, ArrayRef<int64_t> strides) {
  return !keepsInput() && !getAux() && !strides.empty() && strides.back() == 1 &&
         (!getBiasGrad() || strides.size() == 2);
}

/// Returns whether the contracted dims of an operand (or the others, if not `contracted`) collapse
/// into one dim with these strides, so that the GEMM needs no loops over them. Contracted dims
/// must collapse in the order of the left operand, the others in the order of the result.
static bool collapse(tg::ContractionAttr dims, bool contracted, unsigned in, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> strides) {
  size_t last = StringRef::npos;
  for (char letter : contracted ? dims.getLhs() : dims.getResult()) {
    size_t d = dims.getOperand(in).find(letter);
    if (d == StringRef::npos || shape[d] == 1 || dims.isContracted(letter) != contracted)
      continue;
    if (last != StringRef::npos && strides[last] != shape[d] * strides[d])
      return false;
    last = d;
  }
  return true;
}

/// Returns whether these strides are rows that a GEMM may add to: contiguous and not overlapping.
static bool areContiguousRows(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  return !shape.empty() && strides.back() == 1 &&
         llvm::all_of(llvm::zip(shape.drop_back(), strides.drop_back()),
                      [&](auto dim) { return std::get<0>(dim) == 1 || std::get<1>(dim) >= shape.back(); });
}

/// A call with a bias gradient cannot have loops around the GEMM, because each iteration would
/// overwrite the gradient. A call with an addend cannot loop over contracted dims, because only the
/// first iteration would read the addend.
bool MatmulOp::mayReadStrided(unsigned in, ArrayRef<int64_t> strides) {
  Value operand = getActionIns()[in];
  ArrayRef<int64_t> shape = tensorOf(operand.getType()).getShape();
  if (in > 1)
    return getAddend() && operand == getAddend() ? areContiguousRows(shape, strides) : !getAux() || operand != getAux();
  auto collapses = [&](bool contracted) { return collapse(getContraction(), contracted, in, shape, strides); };
  return (!getBiasGrad() || collapses(/*contracted=*/false)) &&
         (!(getBiasGrad() || getAddend()) || collapses(/*contracted=*/true));
}

/// Returns whether the last dim of a tensor with these letters is a row of the GEMM: it
/// cannot collapse with the dims before it, because they do not occur in the same tensors.
static bool isRowOfGemm(tg::ContractionAttr dims, StringRef letters, ArrayRef<int64_t> shape) {
  auto tensorsOf = [&](char letter) {
    return std::tuple(dims.getLhs().contains(letter), dims.getRhs().contains(letter),
                      dims.getResult().contains(letter));
  };
  for (size_t dim = letters.size(); dim > 1; --dim)
    if (shape[dim - 2] != 1)
      return tensorsOf(letters[dim - 2]) != tensorsOf(letters.back());
  return false;
}

bool MatmulOp::readsRows(unsigned in) {
  if (in > 1)
    return llvm::is_contained({getAccumulator(), getAddend()}, getActionIns()[in]) && writesRows(0);
  tg::ContractionAttr dims = getContraction();
  return isRowOfGemm(dims, dims.getOperand(in), tensorOf(getActionIns()[in].getType()).getShape());
}

bool MatmulOp::writesRows(unsigned result) {
  Type type = getOuts().empty() ? getResultTypes()[result] : getOuts()[result].getType();
  return result == 0 && isRowOfGemm(getContraction(), getContraction().getResult(), tensorOf(type).getShape());
}
