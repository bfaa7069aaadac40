//===- PrintMatmul.cpp - calls of matmuls ---------------------------------===//
//
// A call names a row of br_model.matmuls, which has the sizes, strides and epilogue of the GEMM.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/StepPrinter.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Exec/MatmulMarks.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static StringRef epilogueText(exec::Epilogue epilogue) {
  switch (epilogue) {
  case exec::Epilogue::None:
    return "BR_EPILOGUE_NONE";
  case exec::Epilogue::GeluTanh:
    return "BR_EPILOGUE_GELU_TANH";
  case exec::Epilogue::GeluErf:
    return "BR_EPILOGUE_GELU_ERF";
  case exec::Epilogue::Silu:
    return "BR_EPILOGUE_SILU";
  case exec::Epilogue::GeluTanhGrad:
    return "BR_EPILOGUE_GELU_TANH_GRAD";
  }
  llvm_unreachable("unknown epilogue");
}

/// Returns a br_matrix: strides of rows, of columns and of the loops.
static std::string matrixText(Value ref, int64_t row, int64_t column, const MatmulShape &shape,
                              int64_t MatmulLoop::*stride, bool isResult = false) {
  auto strides = [&](ArrayRef<MatmulLoop> loops) {
    return llvm::map_to_vector(loops, [&](const MatmulLoop &loop) { return loop.*stride; });
  };
  Initializer matrix;
  matrix.always("type", dtypeText(cast<exec::RefType>(ref.getType()).getElementType()))
      .always("row_stride", row)
      .always("column_stride", column)
      .addUnlessZero("batch_strides", strides(shape.batch));
  return isResult ? matrix.text() : matrix.addUnlessZero("outer_strides", strides(shape.outer)).text();
}

/// Returns the initializer of a br_matmul_desc.
std::string StepPrinter::matmulRow(exec::MatmulOp op, const MatmulShape &shape, Value lhs, Value rhs) {
  auto sizes = [](ArrayRef<MatmulLoop> loops) {
    return llvm::map_to_vector(loops, [](const MatmulLoop &loop) { return loop.size; });
  };
  Value out = op.getOuts()[0];
  Initializer row;
  row.always("m", shape.m).always("n", shape.n).always("k", shape.k);
  row.addUnlessZero("n_batch", shape.batch.size()).addUnlessZero("batch", sizes(shape.batch));
  row.addUnlessZero("n_outer", shape.outer.size()).addUnlessZero("outer", sizes(shape.outer));
  row.newLine().always("a", matrixText(lhs, shape.lhsM, shape.lhsK, shape, &MatmulLoop::lhs));
  row.newLine().always("b", matrixText(rhs, shape.rhsK, shape.rhsN, shape, &MatmulLoop::rhs));
  row.newLine().always("c", matrixText(out, shape.outM, shape.outN, shape, &MatmulLoop::out, /*isResult=*/true));
  row.newLine();
  if (Value bias = op.getBias())
    row.always("has_bias", 1).always("bias_type", dtypeText(cast<exec::RefType>(bias.getType()).getElementType()));
  if (Value addend = op.getAddend())
    row.always("has_addend", 1)
        .always("addend", matrixText(addend, shape.addendM, shape.addendN, shape, &MatmulLoop::addend, true))
        .newLine();
  row.addUnlessZero("accumulate", op.getAccumulator() ? 1 : 0);
  if (op.getEpilogue() != exec::Epilogue::None)
    row.always("epilogue", epilogueText(op.getEpilogue()).str());
  addWorkspace(op, row.newLine()).newLine();
  // The input of GELU, which the call keeps or reads.
  if (Value aux = op.keepsInput() ? op.getOuts()[1] : op.getAux())
    row.always("has_aux", 1)
        .always("aux_m", shape.n)
        .always("aux_offset", arena.offsetOf(aux))
        .addUnlessZero("aux_slots", arena.slotsOf(aux));
  if (op.getBiasGrad()) {
    bool isLeft = (*op.getBiasGrad() == exec::Side::Lhs) != shape.swapped;
    row.always("bias_grad", isLeft ? "BR_BIAS_GRAD_A" : "BR_BIAS_GRAD_B")
        .always("bias_grad_offset", arena.offsetOf(op.getOuts()[1]));
  }
  row.addUnlessZero("copy_b", op->hasAttr(exec::kPanels) ? 1 : 0);
  row.addUnlessZero("beside_collective", op->hasAttr(comm::CommDialect::kBesideCollective) ? 1 : 0);
  return row.text(4);
}

namespace {
/// A call, and the offsets in elements of its matrices within those of the matmul.
struct MatmulPart {
  MatmulShape shape;
  int64_t lhs = 0, rhs = 0, out = 0;
};
} // namespace

/// Returns one call, or two if the last rows or columns are computed separately.
static SmallVector<MatmulPart, 2> partsOf(exec::MatmulOp op, const MatmulShape &whole) {
  auto splitSize = [&](StringRef mark) {
    auto count = op->getAttrOfType<IntegerAttr>(mark);
    return count ? count.getInt() : 0;
  };
  SmallVector<MatmulPart, 2> parts = {{whole}};
  if (int64_t rows = splitSize(exec::kRowsApart)) {
    int64_t first = parts[0].shape.m -= rows;
    parts.push_back({whole, first * whole.lhsM, 0, first * whole.outM});
    parts[1].shape.m = rows;
  } else if (int64_t columns = splitSize(exec::kColumnsApart)) {
    int64_t first = parts[0].shape.n -= columns;
    parts.push_back({whole, 0, first * whole.rhsN, first * whole.outN});
    parts[1].shape.n = columns;
  }
  return parts;
}

/// Refuses marks that a GEMM's size or loops contradict, which text may have.
static LogicalResult verifyApart(exec::MatmulOp op, const MatmulShape &shape) {
  for (auto [mark, size] : {std::pair(exec::kRowsApart, shape.m), {exec::kColumnsApart, shape.n}})
    if (auto count = op->getAttrOfType<IntegerAttr>(mark);
        count && (count.getInt() >= size || !shape.batch.empty() || !shape.outer.empty()))
      return op.emitError() << "'" << mark << "' is " << count.getInt() << ", but the matmul is "
                            << (shape.batch.empty() && shape.outer.empty() ? "one GEMM with " + std::to_string(size)
                                                                           : std::string("several GEMMs"))
                            << "; run exec-split-matmuls instead of writing the mark";
  return success();
}

template <> LogicalResult StepPrinter::print(exec::MatmulOp op) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  Value out = op.getOuts()[0];
  std::string reason;
  FailureOr<MatmulShape> shape = matmulShape(op, &reason);
  if (failed(shape))
    return op.emitError() << reason;
  if (shape->batch.size() > 6 || shape->outer.size() > 6)
    return op.emitError() << "\"" << op.getContraction().getSpec() << "\" needs more than 6 loops around its matrices";
  if (op.getBias() && type(op.getBias()).getTensorType().getNumElements() != shape->n)
    return op.emitError() << "the bias has " << type(op.getBias()).getTensorType().getNumElements()
                          << " elements, but the GEMM of \"" << op.getContraction().getSpec() << "\" has " << shape->n
                          << " columns";
  if (op.getAddend() && !target.addendEpilogue)
    return op.emitError() << "adds a tensor to a product, which matmul calls of the " << emitter.target
                          << " target do not support; lower the module for this target";
  if (op.getAddend() && !shape->outer.empty())
    return op.emitError() << "adds a tensor to a product, but \"" << op.getContraction().getSpec()
                          << "\" takes several GEMM calls that add up";
  if (op.getBiasGrad() && !(shape->batch.empty() && shape->outer.empty()))
    return op.emitError() << "sums an operand for the gradient of a bias, but \"" << op.getContraction().getSpec()
                          << "\" takes several GEMM calls";
  if (failed(verifyApart(op, *shape)))
    return failure();
  Value lhs = shape->swapped ? op.getRhs() : op.getLhs(), rhs = shape->swapped ? op.getLhs() : op.getRhs();

  for (const MatmulPart &part : partsOf(op, *shape))
    printCall("br_matmul", {"ctx", matmulsOf[kind].numberOf(matmulRow(op, part.shape, lhs, rhs)),
                            addressText(lhs, part.lhs), addressText(rhs, part.rhs), addressText(out, part.out),
                            addressText(op.getBias()), addressText(op.getAddend())});
  // Computes the epilogue if the library does not, which is known at program start.
  if (target.onDevice() && (op.getBias() || op.getEpilogue() != exec::Epilogue::None || op.getBiasGrad()))
    printCall("finish_matmul<" + memoryType(type(out).getElementType()).str() + ", " +
                  memoryType(type(lhs).getElementType()).str() + ">",
              {"m"});
  return success();
}

std::optional<LogicalResult> printers::Matmul(StepPrinter &printer, Operation *op) {
  return printer.printIf<exec::MatmulOp>(op);
}
