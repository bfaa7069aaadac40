//===- Integers.cpp - arithmetic of floats and of integers ----------------===//

#include "lib/Import/Torch/Integers.h"

#include "lib/Import/Functions.h"
#include "lib/Import/Torch/Indices.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using FP = arith::CmpFPredicate;

/// Reports an error for truth values.
static bool refuseTruth(CallBuilder &call) {
  if (call.resultElement().isInteger(1))
    call.fail("arithmetic of booleans is not supported");
  return call.hasReported;
}

Values braid::torch::absolute(CallBuilder &call) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement());
  if (call.isFloatResult())
    return {call.make<math::AbsFOp>(a)};
  return {call.make<arith::MaxSIOp>(a, call.make<arith::SubIOp>(call.constantLike(a, 0), a))};
}

Values braid::torch::negate(CallBuilder &call) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement());
  return {call.isFloatResult() ? call.neg(a) : call.make<arith::SubIOp>(call.constantLike(a, 0), a)};
}

Values braid::torch::subtractFrom(CallBuilder &call) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement()), b = call.operand("other", call.resultElement());
  double alpha = call.number("alpha", 1);
  if (call.isFloatResult())
    return {call.sub(b, alpha == 1 ? a : call.mul(a, alpha))};
  Value scaled = alpha == 1 ? a : call.make<arith::MulIOp>(a, call.filled(tg::typeOf(a), alpha));
  return {call.make<arith::SubIOp>(b, scaled)};
}

/// Limits x to bounds that are numbers or tensors. At a number the gradient is 0; with a tensor it is shared.
Values braid::torch::clamp(CallBuilder &call) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement());
  for (StringRef name : {"min", "max"}) {
    if (!call.has(name))
      continue;
    Value bound = call.operand(name, call.resultElement());
    bool isLow = name == "min";
    if (call.isFloatResult() && call.isNumber(name))
      a = call.select(call.compare(isLow ? FP::OLE : FP::OGE, a, bound), bound, a);
    else if (call.isFloatResult())
      a = isLow ? call.make<arith::MaximumFOp>(a, bound) : call.make<arith::MinimumFOp>(a, bound);
    else
      a = isLow ? call.make<arith::MaxSIOp>(a, bound) : call.make<arith::MinSIOp>(a, bound);
  }
  return {a};
}

namespace {
/// A division of floats, computed in float32 at least, whose quotient is rounded down. A rounded quotient cannot tell
/// it: 1 / 0.1 is 10, but 0.1 fits only 9 times.
class FloorDivision {
public:
  FloorDivision(CallBuilder &call, Value a, Value b) : call(call), a(call.widen(a)), b(call.widen(b)) {
    FunctionBuilder functions(call, /*hasGradients=*/false);
    rest = functions.remainder(this->a, this->b);
    Value sign = functions.sign(rest), wanted = functions.sign(this->b);
    isBelow = call.compare(FP::OLT, call.mul(sign, wanted), call.zeros(tg::typeOf(rest)));
  }

  /// The remainder, which has the sign of b.
  Value remainder() { return narrowed(call.select(isBelow, call.add(rest, b), rest)); }

  /// The quotient without that remainder; infinite or NaN if b is 0. It has no gradient.
  Value quotient() {
    Value ratio = call.div(call.sub(a, rest), b);
    Value whole = FunctionBuilder(call, /*hasGradients=*/false).roundToEven(ratio);
    Value lowered = call.select(isBelow, call.add(whole, -1.0), whole), ofZero = call.div(a, b);
    Value isZero = call.compare(FP::OEQ, b, call.zeros(tg::typeOf(b)));
    return call.make<tg::StopGradientOp>(narrowed(call.select(isZero, ofZero, lowered)));
  }

private:
  Value narrowed(Value value) { return call.convert(value, call.resultElement()); }

  CallBuilder &call;
  Value a, b, rest, isBelow;
};
} // namespace

/// a / b of integers, for a known b other than 0. Toward zero, or one less where a rest has the other sign than b.
static Value integerQuotient(CallBuilder &call, Value a, Value b, bool isFloor) {
  Interval divisor = intervalOf(b);
  if (divisor.low <= 0)
    return call.fail("of integers is supported only by numbers above 0");
  Value quotient = call.make<arith::DivSIOp>(a, b);
  if (!isFloor || intervalOf(a).low >= 0)
    return quotient;
  Value rest = call.make<arith::RemSIOp>(a, b);
  Value isBelow = call.compare(arith::CmpIPredicate::slt, rest, call.constantLike(rest, 0));
  return call.make<arith::SubIOp>(quotient, call.convert(isBelow, call.builder.getI32Type()));
}

static Values divideTo(CallBuilder &call, StringRef mode) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement()), b = call.operand("other", call.resultElement());
  if (mode != "" && mode != "floor" && mode != "trunc")
    return {call.fail("no rounding mode '" + mode + "'")};
  if (call.isFloatResult()) {
    if (mode == "floor")
      return {FloorDivision(call, a, b).quotient()};
    Value quotient = call.div(a, b);
    return {mode == "" ? quotient : FunctionBuilder(call, /*hasGradients=*/false).trunc(quotient)};
  }
  if (mode == "")
    return {call.fail("the quotient of integers is a float")};
  return {integerQuotient(call, a, b, mode == "floor")};
}
Values braid::torch::divide(CallBuilder &call) { return divideTo(call, call.string("rounding_mode")); }
Values braid::torch::floorDivide(CallBuilder &call) { return divideTo(call, "floor"); }

Values braid::torch::remainder(CallBuilder &call) {
  if (refuseTruth(call))
    return {};
  Value a = call.operand("self", call.resultElement()), b = call.operand("other", call.resultElement());
  if (call.isFloatResult())
    return {FloorDivision(call, a, b).remainder()};
  if (intervalOf(a).low >= 0 && intervalOf(b).low > 0)
    return {call.make<arith::RemSIOp>(a, b)};
  if (intervalOf(b).low <= 0)
    return {call.fail("of integers is supported only by numbers above 0")};
  return {countedFromEnd(call, call.make<arith::RemSIOp>(a, b), b)};
}

/// Small whole exponents are products; others are math.powf.
Values braid::torch::power(CallBuilder &call) {
  Value a = call.operand("self", call.resultElement());
  bool isFloat = call.isFloatResult();
  if (!call.isNumber("exponent"))
    return {isFloat ? call.pow(a, call.operand("exponent", call.resultElement())) : call.fail("of integers")};
  double exponent = call.number("exponent");
  if (exponent == 2 || exponent == 3) {
    auto times = [&](Value b) { return isFloat ? call.mul(b, a) : call.make<arith::MulIOp>(b, a); };
    return {exponent == 2 ? times(a) : times(times(a))};
  }
  if (!isFloat)
    return {call.fail("powers of integers other than 2 and 3 are not supported")};
  if (exponent == 1)
    return {a};
  if (exponent == -1)
    return {call.div(call.constantLike(a, 1), a)};
  if (exponent == 4)
    return {call.square(call.square(a))};
  if (exponent == 0.5)
    return {call.sqrt(a)};
  if (exponent == -0.5)
    return {call.rsqrt(a)};
  return {call.pow(a, call.constantLike(a, exponent))};
}
