//===- Convolutions.cpp - convolutions of patches -------------------------===//
//
// A convolution whose windows do not overlap multiplies patches by a matrix. Other convolutions have no op of tg yet.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Values = SmallVector<Value>;

/// Returns an argument with a number for each dim of space; one number stands for all.
static Integers perDim(CallBuilder &call, StringRef name, size_t dims, int64_t fallback) {
  Integers given = call.integers(name);
  if (given.empty())
    given.push_back(fallback);
  if (given.size() == 1)
    given.resize(dims, given.front());
  return given;
}

/// Whether each element of the input is in exactly one window.
static bool readsPatches(CallBuilder &call, ArrayRef<int64_t> input, ArrayRef<int64_t> weight) {
  size_t dims = input.size() - 2;
  auto all = [&](StringRef name, int64_t fallback) {
    return all_of(perDim(call, name, dims, fallback), [&](int64_t value) { return value == fallback; });
  };
  if (!all("padding", 0) || !all("dilation", 1) || call.integer("groups", 1) != 1)
    return false;
  Integers stride = perDim(call, "stride", dims, 1);
  for (size_t dim = 0; dim < dims; ++dim)
    if (weight[2 + dim] < 1 || stride[dim] != weight[2 + dim] || input[2 + dim] % weight[2 + dim])
      return false;
  return stride.size() == dims;
}

/// batch x channels x space, with each dim of space split into patches and their elements.
static Values convolution(CallBuilder &call) {
  Value input = call.tensor("input"), weight = call.tensor("weight"), bias = call.tensorOrNull("bias");
  ArrayRef<int64_t> shape = tg::typeOf(input).getShape(), kernel = tg::typeOf(weight).getShape();
  size_t dims = call.call.op == "aten.conv1d.default" ? 1 : 2;
  if (shape.size() != dims + 2 || kernel.size() != dims + 2 || shape[1] != kernel[1] ||
      tg::typeOf(weight).getElementType() != tg::typeOf(input).getElementType())
    return {call.fail("input and weight do not fit together")};
  if (!readsPatches(call, shape, kernel))
    return {call.fail("only convolutions of patches are supported, whose stride is the size of the kernel, without "
                      "padding, dilation and groups")};
  SmallVector<int64_t> split{shape[0], shape[1]};
  for (size_t dim = 0; dim < dims; ++dim)
    split.append({shape[2 + dim] / kernel[2 + dim], kernel[2 + dim]});
  Value patches = call.reshape(input, split);
  Value product = call.contract(dims == 1 ? "bchp,ocp->boh" : "bchpwq,ocpq->bohw", patches, weight);
  if (!bias)
    return {product};
  if (tg::typeOf(bias).getShape() != kernel.take_front(1))
    return {call.fail("the bias has another size than the result's channels")};
  return {call.add(product, call.broadcast(bias, tg::typeOf(product), {1}))};
}

static constexpr OpRow kConvolutionRows[] = {
    {"aten.conv1d.default", "input:T weight:T bias:T? stride:IL? padding:IL? dilation:IL? groups:I?", convolution,
     nullptr, "tg.contract, for patches"},
    {"aten.conv2d.default", "input:T weight:T bias:T? stride:IL? padding:IL? dilation:IL? groups:I?", convolution,
     nullptr, "tg.contract, for patches"},
};

ArrayRef<OpRow> braid::torch::convolutionRows() { return kConvolutionRows; }
