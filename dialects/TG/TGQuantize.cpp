//===- TGQuantize.cpp - block-wise 8-bit quantization ---------------------===//
//
// Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization": each block of adjacent elements
// has its own scale, and codes are dense near zero. Here a code q of a block with scale s represents s
// q^4. No table is read: a fourth power decodes, and two square roots find the code below a number.
//
// Zero is special because of squared gradients. A small variance rounded to zero would make the
// step huge; rounded up to the first code, it makes a smaller step.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "dialects/TG/ValueNames.h"
#include <cmath>

using namespace mlir;
using namespace braid::tg;

static constexpr double kLargestCode = 127;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  SmallVector<int64_t> shape(input.getShape());
  int64_t block = adaptor.getBlock();
  if (shape.empty() || block < 1 || shape.back() % block != 0)
    return emitOptionalError(loc, "blocks of ", block, " do not divide the rows of ", input);
  shape.back() /= block;
  types.push_back(withElement(input, IntegerType::get(context, 8)));
  types.push_back(withShape(input, shape));
  return success();
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType codes = typeOf(adaptor.getCodes()), scales = typeOf(adaptor.getScales());
  bool fits = codes.getRank() > 0 && codes.getRank() == scales.getRank() &&
              codes.getShape().drop_back() == scales.getShape().drop_back() &&
              codes.getShape().back() % scales.getShape().back() == 0;
  if (!fits)
    return emitOptionalError(loc, "scales ", scales, " must have one number for each block of the rows of ", codes);
  types.push_back(withElement(codes, scales.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// Splits rows into blocks of lanes.
static Value splitIntoBlocks(TensorBuilder &t, Value value, int64_t block) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.back() /= block;
  shape.push_back(block);
  return t.reshape(value, shape);
}

/// Returns the fraction of its block's largest number that a code represents.
static Value levelOf(TensorBuilder &t, Value code) { return t.square(t.square(t.mul(code, 1 / kLargestCode))); }

SmallVector<Value> QuantizeOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  Value x = splitIntoBlocks(t, getInput(), getBlock()), threshold = splitIntoBlocks(t, getThreshold(), getBlock());
  Value size = t.make<math::AbsFOp>(x);
  Value largest = named("largest", t.reduceLanes(ReduceKind::Max, size));
  // The divisor of an all-zero block is 1.
  Value isPositive = t.compare(arith::CmpFPredicate::OGT, largest, t.constantLike(largest, 0.0));
  Value part = t.div(size, t.broadcastRows(t.select(isPositive, largest, t.constantLike(largest, 1.0)), size));
  // minnum and maxnum drop NaN, so that the code of any number has 8 bits.
  Value below = t.make<math::FloorOp>(t.mul(t.sqrt(t.sqrt(part)), kLargestCode));
  below = named("below", t.make<arith::MinNumFOp>(below, t.constantLike(below, kLargestCode - 1)));
  Value above = t.add(below, 1.0), level = levelOf(t, below);
  Value fraction = named("way", t.div(t.sub(part, level), t.sub(levelOf(t, above), level)));
  Value code = t.select(t.compare(arith::CmpFPredicate::OLT, threshold, fraction), above, below);
  Value isThere = t.compare(arith::CmpFPredicate::OGT, size, t.constantLike(size, 0.0));
  code = t.select(isThere, t.make<arith::MaxNumFOp>(code, t.constantLike(code, 1.0)), t.constantLike(code, 0.0));
  Value codes = named("code", t.convert(t.make<math::CopySignOp>(code, x), getCodes().getType().getElementType()));
  Value scales = named("scale", t.mul(largest, std::pow(kLargestCode, -4)));
  return {t.reshape(codes, getCodes().getType().getShape()), scales};
}

SmallVector<Value> DequantizeOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, originOf(*this));
  int64_t block = getCodes().getType().getShape().back() / getScales().getType().getShape().back();
  Value code = t.convert(splitIntoBlocks(t, getCodes(), block), getType().getElementType());
  Value size = t.mul(t.square(t.square(code)), t.broadcastRows(getScales(), code));
  return {t.reshape(t.make<math::CopySignOp>(size, code), getType().getShape())};
}
