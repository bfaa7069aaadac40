//===- Rows.cpp - row functions of tg and exec ----------------------------===//

#include "lib/Reference/Rows.h"
#include "lib/Reference/Philox.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

/// Returns how far a tensor moves when each of `letters` grows by one.
static Index stridesOf(StringRef letters, StringRef dims, ArrayRef<int64_t> shape) {
  Index own = rowMajorStrides(shape), strides(letters.size(), 0);
  for (size_t d = 0; d < dims.size(); ++d)
    strides[letters.find(dims[d])] = own[d];
  return strides;
}

static int64_t dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (size_t d = 0; d < a.size(); ++d)
    sum += a[d] * b[d];
  return sum;
}

Tensor braid::reference::contract(tg::ContractionAttr dims, const Tensor &lhs, const Tensor &rhs,
                                  RankedTensorType type) {
  StringRef letters = dims.getResult();
  Index bounds(type.getShape()), summedBounds;
  for (int64_t dim : dims.getContractedDims(0))
    summedBounds.push_back(lhs.shape[dim]);
  std::string all = letters.str() + dims.getK();
  Index a = stridesOf(all, dims.getLhs(), lhs.shape), b = stridesOf(all, dims.getRhs(), rhs.shape);

  // Places of the terms of one sum, relative to its first.
  std::vector<std::pair<int64_t, int64_t>> terms;
  ArrayRef<int64_t> aSummed = ArrayRef(a).drop_front(letters.size());
  ArrayRef<int64_t> bSummed = ArrayRef(b).drop_front(letters.size());
  forEachIndex(summedBounds,
               [&](ArrayRef<int64_t> index) { terms.push_back({dot(index, aSummed), dot(index, bSummed)}); });

  Tensor result(type);
  int64_t place = 0;
  forEachIndex(bounds, [&](ArrayRef<int64_t> index) {
    const Element *x = lhs.elements.data() + dot(index, ArrayRef(a).take_front(letters.size()));
    const Element *y = rhs.elements.data() + dot(index, ArrayRef(b).take_front(letters.size()));
    double sum = 0;
    for (auto [i, j] : terms)
      sum += x[i].f * y[j].f;
    result.f(place++) = sum;
  });
  return result;
}

static Tensor evaluateContract(tg::ContractOp op, const Operands &in) {
  return contract(op.getContraction(), in(op.getLhs()), in(op.getRhs()), op.getResult().getType());
}

void braid::reference::addContraction(OpTable &table) { table.add(evaluateContract); }

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

/// Returns the row of a table that element `i` of `indices` names.
static FailureOr<int64_t> rowAt(Operation *op, const Tensor &indices, int64_t i, int64_t rows) {
  int64_t row = indices.n(i);
  if (row >= 0 && row < rows)
    return row;
  return op->emitError() << "index " << row << " at place " << i << " is outside the table of " << rows << " rows";
}

Results braid::reference::gatherRows(Operation *op, const Tensor &table, const Tensor &indices) {
  Index shape(indices.shape);
  shape.append(table.shape.begin() + 1, table.shape.end());
  Tensor result(shape, table.elementType);
  int64_t width = table.shape[0] ? table.size() / table.shape[0] : 0;
  for (int64_t i = 0; i < indices.size(); ++i) {
    FailureOr<int64_t> row = rowAt(op, indices, i, table.shape[0]);
    if (failed(row))
      return failure();
    for (int64_t j = 0; j < width; ++j)
      result[i * width + j] = table[*row * width + j];
  }
  return results(std::move(result));
}

Results braid::reference::scatterRows(Operation *op, const Tensor &indices, const Tensor &updates, Tensor table) {
  int64_t width = indices.size() ? updates.size() / indices.size() : 0;
  for (int64_t i = 0; i < indices.size(); ++i) {
    FailureOr<int64_t> row = rowAt(op, indices, i, table.shape[0]);
    if (failed(row))
      return failure();
    for (int64_t j = 0; j < width; ++j)
      table.f(*row * width + j) += updates.f(i * width + j);
  }
  return results(std::move(table));
}

//===----------------------------------------------------------------------===//
// Sums of exponentials, concatenation and random numbers
//===----------------------------------------------------------------------===//

double braid::reference::logSumExp(int64_t n, function_ref<double(int64_t i)> x) {
  double largest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max(largest, x(i));
  for (int64_t i = 0; i < n; ++i)
    sum += std::exp(x(i) - largest);
  return largest + std::log(sum);
}

Tensor braid::reference::concatenate(const Operands &in, int64_t dim, RankedTensorType type) {
  Tensor result(type);
  int64_t begin = 0;
  for (unsigned k = 0; k < in.size(); ++k) {
    int64_t place = 0;
    forEachIndex(in[k].shape, [&](ArrayRef<int64_t> index) {
      Index target(index);
      target[dim] += begin;
      result[result.at(target)] = in[k][place++];
    });
    begin += in[k].shape[dim];
  }
  return result;
}

void braid::reference::fillUniform(const Tensor &key, int64_t stream, Tensor &result) {
  PhiloxKey seed = {static_cast<uint32_t>(key.n(0)), static_cast<uint32_t>(key.n(1))};
  uint64_t first = static_cast<uint32_t>(key.n(3)) * static_cast<uint64_t>(result.size());
  for (int64_t i = 0; i < result.size(); ++i)
    result.f(i) =
        uniformOf(philoxWord(first + i, static_cast<uint32_t>(key.n(2)), static_cast<uint32_t>(stream), seed));
}
