//===- Exec.cpp - actions: kernels and library calls ----------------------===//
//
// The functions evaluate both forms: in memory form, Memory.cpp reads the operands from
// the arena and writes the results to it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "lib/Reference/KernelBody.h"
#include "lib/Reference/Rows.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static Results evaluateKernel(exec::KernelOp op, const Operands &in, Arithmetic arithmetic) {
  SmallVector<const Tensor *> arguments;
  for (unsigned i = 0; i < in.size(); ++i)
    arguments.push_back(&in[i]);
  return runKernelBody(op.getBody().front(), arguments, /*flatLength=*/0, arithmetic);
}

/// Applies an epilogue; `aux` is the input of GELU for its gradient.
static double applyEpilogue(exec::Epilogue epilogue, double x, double aux) {
  switch (epilogue) {
  case exec::Epilogue::None:
    return x;
  case exec::Epilogue::GeluTanh:
    return gelu(/*tanhForm=*/true, x);
  case exec::Epilogue::GeluErf:
    return gelu(/*tanhForm=*/false, x);
  case exec::Epilogue::Silu:
    return silu(x);
  case exec::Epilogue::GeluTanhGrad:
    return x * geluDerivative(/*tanhForm=*/true, aux);
  }
  llvm_unreachable("unknown epilogue");
}

/// Sums an operand over the contracted dims, which leaves one dim.
static Tensor sumOverContracted(tg::ContractionAttr dims, unsigned number, const Tensor &operand,
                                RankedTensorType type) {
  Tensor sum(type);
  size_t kept = dims.getOperand(number).find_first_of(dims.getResult());
  int64_t place = 0;
  forEachIndex(operand.shape, [&](ArrayRef<int64_t> index) { sum.f(index[kept]) += operand.f(place++); });
  return sum;
}

static Results evaluateMatmul(exec::MatmulOp op, const Operands &in) {
  Tensor result = contract(op.getContraction(), in(op.getLhs()), in(op.getRhs()), resultType(op));
  const Tensor *bias = in.optional(op.getBias()), *accumulator = in.optional(op.getAccumulator());
  const Tensor *aux = in.optional(op.getAux()), *added = accumulator ? accumulator : in.optional(op.getAddend());
  Tensor kept = result;
  for (int64_t i = 0; i < result.size(); ++i) {
    double x = result.f(i) + (bias ? bias->f(i % bias->size()) : 0);
    kept.f(i) = x;
    result.f(i) = applyEpilogue(op.getEpilogue(), x, aux ? aux->f(i) : 0) + (added ? added->f(i) : 0);
  }
  if (op.getBiasGrad()) {
    unsigned operand = *op.getBiasGrad() == exec::Side::Lhs ? 0 : 1;
    return results(std::move(result),
                   sumOverContracted(op.getContraction(), operand, in(op.getSummed()), resultType(op, 1)));
  }
  return op.keepsInput() ? results(std::move(result), std::move(kept)) : results(std::move(result));
}

static Results evaluateGather(exec::GatherOp op, const Operands &in) {
  return gatherRows(op, in(op.getTable()), in(op.getIndices()));
}

static Results evaluateScatterAdd(exec::ScatterAddOp op, const Operands &in) {
  const Tensor *accumulator = in.optional(op.getAccumulator());
  return scatterRows(op, in(op.getIndices()), in(op.getUpdates()), accumulator ? *accumulator : Tensor(resultType(op)));
}

static Results evaluateView(exec::ViewOp op, const Operands &in) {
  const Tensor &source = in(op.getSource());
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  int64_t place = 0, outside = -1;
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    int64_t from = op.getOffset();
    for (size_t d = 0; d < index.size(); ++d)
      from += index[d] * op.getStrides()[d];
    if (from < 0 || from >= source.size())
      outside = from;
    else
      result[place] = source[from];
    ++place;
  });
  if (outside != -1)
    return op.emitError() << "reads element " << outside << " of a source of " << source.size();
  return results(std::move(result));
}

static Tensor evaluateConcat(exec::ConcatOp op, const Operands &in) {
  return concatenate(in, op.getDim(), cast<RankedTensorType>(op.getResult().getType()));
}

void braid::reference::addExec(OpTable &table) {
  table.addAll(evaluateKernel, evaluateMatmul, evaluateGather, evaluateScatterAdd, evaluateView, evaluateConcat);
}
