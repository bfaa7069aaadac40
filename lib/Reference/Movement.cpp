//===- Movement.cpp - tg ops that move, reduce, make and convert elements -===//

#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include "lib/Reference/Philox.h"
#include "lib/Reference/Rows.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

/// Makes a tensor from elements of `x`; `sourceOf` returns the index of each.
static Tensor picked(const Tensor &x, RankedTensorType type, function_ref<Index(ArrayRef<int64_t> index)> sourceOf) {
  Tensor y(type);
  int64_t place = 0;
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) { y[place++] = x[x.at(sourceOf(index))]; });
  return y;
}

static Tensor evaluateBroadcast(tg::BroadcastOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  return picked(x, op.getResult().getType(), [&](ArrayRef<int64_t> index) {
    Index source(x.rank());
    for (int64_t d = 0; d < x.rank(); ++d)
      source[d] = x.shape[d] == 1 ? 0 : index[op.getDims()[d]];
    return source;
  });
}

/// Adds up (or takes the maximum of) the elements that share a result index.
static Tensor evaluateReduce(tg::ReduceOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  Tensor y(op.getResult().getType());
  bool isMax = op.getKind() == tg::ReduceKind::Max;
  std::vector<bool> seen(y.size(), false);
  int64_t place = 0;
  forEachIndex(x.shape, [&](ArrayRef<int64_t> index) {
    Index kept;
    for (int64_t d = 0; d < x.rank(); ++d)
      if (!llvm::is_contained(op.getDims(), d))
        kept.push_back(index[d]);
    int64_t target = y.at(kept), source = place++;
    if (x.hasFloats())
      y.f(target) = !isMax ? y.f(target) + x.f(source)
                    : (seen[target] && !(x.f(source) > y.f(target)) && !std::isnan(x.f(source))) ? y.f(target)
                                                                                                 : x.f(source);
    else
      y.n(target) = !isMax         ? y.n(target) + x.n(source)
                    : seen[target] ? std::max(y.n(target), x.n(source))
                                   : x.n(source);
    seen[target] = true;
  });
  int64_t terms = y.size() ? x.size() / y.size() : 1;
  for (int64_t i = 0; i < y.size(); ++i) {
    if (op.getKind() == tg::ReduceKind::Mean)
      x.hasFloats() ? void(y.f(i) /= terms) : void(y.n(i) /= terms);
    if (!x.hasFloats())
      y.n(i) = wrapTo(y.elementType, y.n(i));
  }
  return y;
}

static Tensor evaluateTranspose(tg::TransposeOp op, const Operands &in) {
  return in(op.getInput()).transposed(op.getPermutation());
}

static Tensor evaluateReshape(tg::ReshapeOp op, const Operands &in) {
  return in(op.getInput()).reshaped(op.getResult().getType().getShape());
}

static Tensor evaluateSlice(tg::SliceOp op, const Operands &in) {
  return picked(in(op.getInput()), op.getResult().getType(), [&](ArrayRef<int64_t> index) {
    Index source(index);
    source[op.getDim()] = op.getOffset() + index[op.getDim()] * op.getStride();
    return source;
  });
}

static Tensor evaluateConcat(tg::ConcatOp op, const Operands &in) {
  return concatenate(in, op.getDim(), op.getResult().getType());
}

static Tensor evaluateReorder(tg::ReorderOp op, const Operands &in) {
  RankedTensorType type = op.getResult().getType();
  int64_t size = type.getDimSize(op.getDim()) / static_cast<int64_t>(op.getOrder().size());
  return picked(in(op.getInput()), type, [&](ArrayRef<int64_t> index) {
    Index source(index);
    int64_t &at = source[op.getDim()];
    at = op.getOrder()[at / size] * size + at % size;
    return source;
  });
}

static Tensor evaluatePad(tg::PadOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  Tensor y(op.getResult().getType());
  double value = op.getValue().convertToDouble();
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = y.hasFloats() ? ofFloat(value) : ofInt(wrapTo(y.elementType, static_cast<int64_t>(value)));
  int64_t place = 0;
  forEachIndex(x.shape, [&](ArrayRef<int64_t> index) {
    Index target(index);
    target[op.getDim()] += op.getLow();
    y[y.at(target)] = x[place++];
  });
  return y;
}

static Results evaluateGather(tg::GatherOp op, const Operands &in) {
  return gatherRows(op, in(op.getTable()), in(op.getIndices()));
}

static Results evaluateScatterAdd(tg::ScatterAddOp op, const Operands &in) {
  return scatterRows(op, in(op.getIndices()), in(op.getUpdates()), Tensor(op.getResult().getType()));
}

static Tensor evaluateIota(tg::IotaOp op, const Operands &) {
  Tensor y(cast<RankedTensorType>(op.getResult().getType()));
  int64_t place = 0;
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    int64_t value = index[op.getDim()];
    y[place++] = y.hasFloats() ? ofFloat(value) : ofInt(wrapTo(y.elementType, value));
  });
  return y;
}

static Tensor evaluateConvert(tg::ConvertOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  Tensor y(op.getResult().getType());
  bool toBool = y.elementType.isInteger(1);
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x.hasFloats() && y.hasFloats())
      y.f(i) = x.f(i);
    else if (x.hasFloats())
      y.n(i) = toBool ? x.f(i) != 0 : saturateTo(y.elementType, x.f(i));
    else if (y.hasFloats())
      y.f(i) = static_cast<double>(x.n(i));
    else
      y.n(i) = toBool ? x.n(i) != 0 : wrapTo(y.elementType, x.n(i));
  }
  return y;
}

static Results evaluateRandomUniform(tg::RandomUniformOp op, const Operands &in) {
  Tensor y(op.getResult().getType());
  if (!op.getOf()) {
    fillUniform(in(op.getKey()), op.getStream(), y);
    return results(std::move(y));
  }
  // Makes the larger tensor completely, and reads the block from it.
  Tensor whole(*op.getOf(), y.elementType);
  fillUniform(in(op.getKey()), op.getStream(), whole);
  Index strides = rowMajorStrides(whole.shape);
  int64_t first = 0;
  for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
    int64_t start = in(offset).n(0);
    if (start < 0 || start + y.shape[dim] > whole.shape[dim])
      return op.emitError() << "the block of size " << y.shape[dim] << " at offset " << start << " of dim " << dim
                            << " is not within the whole tensor's " << whole.shape[dim];
    first += start * strides[dim];
  }
  int64_t next = 0;
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    int64_t place = first;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      place += i * stride;
    y.f(next++) = whole.f(place);
  });
  return results(std::move(y));
}

static Tensor evaluateStopGradient(tg::StopGradientOp op, const Operands &in) { return in(op.getInput()); }
static Tensor evaluateInTraining(tg::InTrainingOp op, const Operands &in) { return in(op.getTraining()); }
static Tensor evaluateHook(tg::HookOp op, const Operands &in) { return in(op.getInput()); }

void braid::reference::addMovement(OpTable &table) {
  table.addAll(evaluateBroadcast, evaluateReduce, evaluateTranspose, evaluateReshape, evaluateSlice, evaluateConcat,
               evaluateReorder, evaluatePad, evaluateGather, evaluateScatterAdd, evaluateIota, evaluateConvert,
               evaluateRandomUniform, evaluateStopGradient, evaluateInTraining, evaluateHook);
}
