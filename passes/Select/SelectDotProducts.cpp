//===- SelectDotProducts.cpp - matrix-vector products as kernels ----------===//
//
// Each element of the matrix is used in one product, so memory bandwidth limits the time. A library's GEMM is made to
// reuse elements and first copies the matrix. A kernel reads its rows in order, with all threads.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#define GEN_PASS_DEF_SELECTDOTPRODUCTSPASS
#include "passes/Select/Passes.h"

using namespace mlir;
using namespace braid;
using tg::ContractOp;

/// Returns the letters of a tensor whose dims have more than one index.
static std::string nonUnitLetters(StringRef letters, Value tensor) {
  std::string found;
  for (auto [letter, size] : llvm::zip_equal(letters, tg::typeOf(tensor).getShape()))
    if (size > 1)
      found += letter;
  return found;
}

/// Returns the number of the operand that is a matrix contracted along its last dims, if the other operand is a vector
/// of these dims; else nothing.
static std::optional<unsigned> matrixOf(ContractOp contract) {
  tg::ContractionAttr dims = contract.getContraction();
  std::string result = nonUnitLetters(dims.getResult(), contract);
  for (unsigned matrix : {0u, 1u}) {
    std::string rows = nonUnitLetters(dims.getOperand(matrix), contract->getOperand(matrix));
    std::string vector = nonUnitLetters(dims.getOperand(1 - matrix), contract->getOperand(1 - matrix));
    if (!vector.empty() && !result.empty() && rows == result + vector)
      return matrix;
  }
  return std::nullopt;
}

static Value multiply(OpBuilder &builder, ContractOp contract, unsigned number) {
  tg::TensorBuilder t(builder, contract.getLoc());
  Value matrix = contract->getOperand(number), vector = contract->getOperand(1 - number);
  int64_t lanes = tg::typeOf(vector).getNumElements(), rows = tg::typeOf(matrix).getNumElements() / lanes;
  Value wide = t.widen(t.reshape(matrix, {rows, lanes}));
  Value products = t.mul(wide, t.broadcastLanes(t.widen(t.reshape(vector, {lanes})), wide));
  Value sums = t.reduceLanes(tg::ReduceKind::Sum, products);
  return t.convert(t.reshape(sums, contract.getType().getShape()), contract.getType().getElementType());
}

namespace {
struct SelectDotProducts final : braid::impl::SelectDotProductsPassBase<SelectDotProducts> {
  void runOnOperation() final {
    if (isTraining(getOperation()))
      return;
    SmallVector<ContractOp> contracts;
    getOperation().walk([&](ContractOp contract) { contracts.push_back(contract); });
    for (ContractOp contract : contracts) {
      OpBuilder builder(contract);
      if (std::optional<unsigned> matrix = matrixOf(contract))
        tg::replaceAndTransferFacts(contract, multiply(builder, contract, *matrix));
    }
  }
};
} // namespace
