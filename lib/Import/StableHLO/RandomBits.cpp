//===- RandomBits.cpp - bits of keys and random numbers -------------------===//
//
// JAX spells its generator, Threefry-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), as
// arithmetic on unsigned integers. These are i32 here, which wrap and shift in the same way. A float in [0, 1) is made
// of the upper 23 bits:
//
//   bitcast<f32>(bits >> 9 | 0x3F800000) - 1
//
//===----------------------------------------------------------------------===//

#include "lib/Import/StableHLO/Evaluate.h"
#include "lib/Import/StableHLO/Translator.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Bits of an integer here.
static constexpr int64_t kWidth = 32;
/// Bits of 1.0 in float32, and of a fraction behind it.
static constexpr double kOneBits = 0x3F800000;
static constexpr int64_t kFractionBits = 23;

/// Returns the number of bits by which a value is shifted, if it is known.
static std::optional<int64_t> shiftOf(const MaybeKnown &amount) {
  std::optional<double> all = amount ? amount->splat() : std::nullopt;
  return all && *all >= 0 ? std::optional<int64_t>(*all) : std::nullopt;
}

static int64_t widthOf(SourceOp &op) {
  return getElementTypeOrSelf(op.op->getResult(0).getType()).getIntOrFloatBitWidth();
}

/// Checks a shift of integers; all bits leave if there are as many. Returns the number of bits, or nothing after an
/// error.
static std::optional<int64_t> checkedShift(SourceOp &op) {
  std::optional<int64_t> shift = shiftOf(op.known(1));
  bool fits = op.operandType(0) == op.resultType() && op.operandType(1) == op.resultType() &&
              op.element().isInteger(kWidth) && widthOf(op) == kWidth;
  if (!fits || !shift)
    op.fail("is supported only of integers of 32 bits, by a known number of bits");
  return fits ? shift : std::nullopt;
}

static Values shiftLeft(SourceOp &op) {
  std::optional<int64_t> shift = checkedShift(op);
  if (!shift)
    return {};
  if (*shift >= kWidth)
    return {op.zeros(op.resultType())};
  return {op.make<arith::ShLIOp>(op.tensor(0), op.constant(op.resultType(), *shift))};
}

/// A shift that fills with the sign, without these bits.
static Value shiftedRight(SourceOp &op, Value a, int64_t shift) {
  if (shift == 0)
    return a;
  if (shift >= kWidth)
    return op.zeros(tg::typeOf(a));
  Value filled = op.make<arith::ShRSIOp>(a, op.constant(tg::typeOf(a), shift));
  return op.make<arith::AndIOp>(filled, op.constant(tg::typeOf(a), (int64_t(1) << (kWidth - shift)) - 1));
}

static Values shiftRight(SourceOp &op) {
  std::optional<int64_t> shift = checkedShift(op);
  if (!shift)
    return {};
  return {shiftedRight(op, op.tensor(0), *shift)};
}

/// A shift that fills with the sign. More bits than the sign leave nothing but it.
static Values shiftWithSign(SourceOp &op) {
  std::optional<int64_t> shift = checkedShift(op);
  if (!shift)
    return {};
  return {op.make<arith::ShRSIOp>(op.tensor(0), op.constant(op.resultType(), std::min(*shift, kWidth - 1)))};
}

/// Upper halves of positions, as those of counters of 64 bits, are 0.
static MaybeKnown evaluateShiftRight(SourceOp &op) {
  std::optional<int64_t> shift = shiftOf(op.known(1));
  const MaybeKnown &a = op.known(0);
  if (!shift || !a || !isNatural(*a))
    return std::nullopt;
  if (*shift >= kWidth - 1)
    return known::constant(op.resultShape(), 0);
  return a->splat() ? known::map(*a, [&](double x) { return std::floor(std::ldexp(x, -*shift)); }) : std::nullopt;
}

/// The operand of a bitcast to float, if it is `bits >> k | 0x3F800000` with k of at least 9.
static Value fractionBits(SourceOp &op) {
  Operation *joined = op.definition(0, "stablehlo.or");
  if (!joined || joined->getNumOperands() != 2)
    return {};
  for (unsigned one : {0, 1}) {
    const MaybeKnown &exponent = op.knownOf(joined->getOperand(one));
    Value bits = joined->getOperand(1 - one);
    Operation *shift = bits.getDefiningOp();
    if (!exponent || exponent->splat() != kOneBits || !shift || shift->getNumOperands() != 2 ||
        shift->getName().getStringRef() != "stablehlo.shift_right_logical")
      continue;
    std::optional<int64_t> amount = shiftOf(op.knownOf(shift->getOperand(1)));
    if (amount && *amount >= kWidth - kFractionBits)
      return op.tensorOf(bits);
  }
  return {};
}

/// A float in [1, 2) is 1 and a number of 23 bits times 2^-23, without rounding.
static Values bitcast(SourceOp &op) {
  Value bits = op.shape(0) == op.resultShape() && op.element().isF32() ? fractionBits(op) : Value();
  if (!bits)
    return {op.fail("is supported only as jax.random.uniform spells it: bits >> 9 | 0x3F800000 as float32")};
  Value fraction = op.convert(bits, op.element());
  Value scaled = op.mul(fraction, std::ldexp(1.0, -kFractionBits));
  return {op.make<tg::StopGradientOp>(op.add(scaled, 1.0))};
}

static constexpr OpRow kRandomRows[] = {
    {"stablehlo.shift_left", 2, "", shiftLeft, nullptr, "arith.shli", "", true},
    {"stablehlo.shift_right_logical", 2, "", shiftRight, evaluateShiftRight, "arith.shrsi, andi", "", true},
    {"stablehlo.shift_right_arithmetic", 2, "", shiftWithSign, nullptr, "arith.shrsi"},
    {"stablehlo.bitcast_convert", 1, "", bitcast, nullptr, "numbers of 23 bits times 2^-23", "", true},
};

ArrayRef<OpRow> braid::stablehlo::randomRows() { return kRandomRows; }
