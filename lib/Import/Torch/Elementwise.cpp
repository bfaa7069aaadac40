//===- Elementwise.cpp - arithmetic, comparisons, activations -------------===//

#include "lib/Import/Torch/Integers.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

static Type elementOf(CallBuilder &call) { return call.resultTensor().getElementType(); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Combines two operands of floats or of integers. `other` is multiplied by alpha, if the op has it.
template <class FloatOp, class IntOp> static Values combine(CallBuilder &call, Value a, Value b) {
  if (!a || !b)
    return {};
  if (isa<FloatType>(elementOf(call)))
    return {call.make<FloatOp>(a, b)};
  if (elementOf(call).isInteger(32))
    return {call.make<IntOp>(a, b)};
  // A sum of truth values is whether any holds, and a product whether all hold.
  if (std::is_same_v<IntOp, arith::AddIOp> || std::is_same_v<IntOp, arith::MaxSIOp>)
    return {call.make<arith::OrIOp>(a, b)};
  if (std::is_same_v<IntOp, arith::MulIOp> || std::is_same_v<IntOp, arith::MinSIOp>)
    return {call.make<arith::AndIOp>(a, b)};
  return {call.fail("arithmetic of booleans is not supported")};
}

template <class FloatOp, class IntOp> static Values binary(CallBuilder &call) {
  Value a = call.operand("self", elementOf(call)), b = call.operand("other", elementOf(call));
  if (double alpha = call.number("alpha", 1); b && alpha != 1)
    b = isa<FloatType>(elementOf(call)) ? call.mul(b, alpha)
                                        : call.make<arith::MulIOp>(b, call.constant(tg::typeOf(b), alpha));
  return combine<FloatOp, IntOp>(call, a, b);
}

static Values outer(CallBuilder &call) {
  Value a = call.tensor("self"), b = call.tensor("vec2");
  RankedTensorType type = call.resultTensor();
  if (!tg::isFloat(a) || a.getType() != RankedTensorType::get(type.getShape().take_front(1), type.getElementType()) ||
      b.getType() != RankedTensorType::get(type.getShape().drop_front(1), type.getElementType()))
    return {call.fail("only of two vectors of floats")};
  return {call.mul(call.broadcast(a, type, {0}), call.broadcast(b, type, {1}))};
}

template <class Op> static Values unary(CallBuilder &call) {
  Value a = call.operand("self", elementOf(call));
  return a && isa<FloatType>(elementOf(call)) ? Values{call.make<Op>(a)} : Values{call.fail("only of floats")};
}

static Values sigmoid(CallBuilder &call) {
  Value a = call.operand("self", elementOf(call));
  Value one = call.constantLike(a, 1);
  return {call.div(one, call.add(call.exp(call.neg(a)), 1.0))};
}

static Values reciprocal(CallBuilder &call) {
  Value a = call.operand("self", elementOf(call));
  return isa<FloatType>(elementOf(call)) ? Values{call.div(call.constantLike(a, 1), a)}
                                         : Values{call.fail("only of floats")};
}

//===----------------------------------------------------------------------===//
// Activations and types
//===----------------------------------------------------------------------===//

static Values gelu(CallBuilder &call) {
  StringRef formula = call.string("approximate");
  if (!formula.empty() && formula != "none" && formula != "tanh")
    return {call.fail("no formula '" + formula + "'")};
  tg::GeluKind kind = formula == "tanh" ? tg::GeluKind::Tanh : tg::GeluKind::Erf;
  return {call.make<tg::GeluOp>(kind, call.tensor("self"))};
}
static Values silu(CallBuilder &call) { return {call.make<tg::SiluOp>(call.tensor("self"))}; }
static Values relu(CallBuilder &call) { return {call.make<tg::ReluOp>(call.tensor("self"))}; }
static Values convert(CallBuilder &call) { return {call.convert(call.tensor("self"), elementOf(call))}; }
static Values identity(CallBuilder &call) { return {call.tensor("self")}; }
static Values copy(CallBuilder &call) { return {call.operand("src", elementOf(call))}; }
static Values fill(CallBuilder &call) { return {call.operand("value", elementOf(call))}; }
static Values detach(CallBuilder &call) { return {call.make<tg::StopGradientOp>(call.tensor("self"))}; }

static Values dropout(CallBuilder &call) {
  Value input = call.tensor("input");
  double rate = call.number("p");
  if (!(rate >= 0 && rate < 1))
    return {call.fail("rate " + std::to_string(rate) + " is not at least 0 and less than 1")};
  if (!call.boolean("train") || rate == 0)
    return {input};
  return {call.make<tg::DropoutOp>(input.getType(), input, call.key(), call.builder.getF64FloatAttr(rate),
                                   call.builder.getI64IntegerAttr(call.nextStream()))};
}

//===----------------------------------------------------------------------===//
// Comparisons and choices
//===----------------------------------------------------------------------===//

/// Returns the element type in which operands are compared: the float among them, f32 for integers and another number,
/// or i32.
static Type comparedType(CallBuilder &call) {
  Type type = tg::typeOf(call.tensor("self")).getElementType();
  if (!call.isNumber("other") && call.has("other")) {
    Type other = tg::typeOf(call.tensor("other")).getElementType();
    if (isa<FloatType>(other) &&
        (!isa<FloatType>(type) || other.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth()))
      return other;
  }
  if (!isa<FloatType>(type) && call.isNumber("other") && call.number("other") != std::floor(call.number("other")))
    return call.builder.getF32Type();
  return type.isInteger(1) ? call.builder.getI32Type() : type;
}

template <arith::CmpFPredicate floats, arith::CmpIPredicate integers> static Values compare(CallBuilder &call) {
  Type type = comparedType(call);
  Value a = call.operand("self", type), b = call.operand("other", type);
  if (!a || !b)
    return {};
  return {isa<FloatType>(type) ? call.compare(floats, a, b) : call.compare(integers, a, b)};
}

template <class Op> static Values logical(CallBuilder &call) {
  Value a = call.operand("self", elementOf(call)), b = call.operand("other", elementOf(call));
  return a && b ? Values{call.make<Op>(a, b)} : Values{};
}

static Values logicalNot(CallBuilder &call) {
  Value a = call.operand("self", call.builder.getI1Type());
  return {call.make<arith::XOrIOp>(a, call.constant(tg::typeOf(a), 1))};
}

static Values where(CallBuilder &call) {
  Value condition = call.operand("condition", call.builder.getI1Type());
  Value a = call.operand("self", elementOf(call)), b = call.operand("other", elementOf(call));
  return condition && a && b ? Values{call.select(condition, a, b)} : Values{};
}

static Values maskedFill(CallBuilder &call) {
  Value mask = call.operand("mask", call.builder.getI1Type());
  Value a = call.operand("self", elementOf(call)), b = call.operand("value", elementOf(call));
  return mask && a && b ? Values{call.select(mask, b, a)} : Values{};
}

//===----------------------------------------------------------------------===//
// Known operands
//===----------------------------------------------------------------------===//

/// Returns an operand, a tensor or a number, in the shape of the result.
static MaybeKnown knownOperand(CallBuilder &call, StringRef name) {
  const SmallVector<int64_t> &shape = call.resultType().shape;
  if (call.isNumber(name)) {
    double number = call.number(name);
    if (number == std::floor(number) && std::abs(number) < INT32_MAX)
      return known::constant(shape, static_cast<int64_t>(number));
    int64_t elements = 1;
    for (int64_t size : shape)
      elements *= size;
    return elements > (1 << 22) ? std::nullopt : known::dense(shape, std::vector<double>(elements, number));
  }
  const MaybeKnown &operand = call.known(name);
  return operand ? known::broadcast(*operand, shape) : std::nullopt;
}

static bool isFloatResult(CallBuilder &call) { return isa<FloatType>(elementOf(call)); }

/// Rounds to the 8 bits of a bfloat16's fraction; ties go to the even one.
static double toBf16(double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &losesInfo);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// Evaluates in double, and rounds to the result's type. Floats become integers toward zero.
static double rounded(CallBuilder &call, double value) {
  switch (call.resultType().element) {
  case ScalarType::F32:
    return static_cast<double>(static_cast<float>(value));
  case ScalarType::BF16:
    return toBf16(value);
  case ScalarType::I32:
  case ScalarType::I64:
    return std::trunc(value);
  case ScalarType::Bool:
    return value != 0;
  default:
    return value;
  }
}

template <double (*function)(double)> static MaybeKnown mapOne(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self");
  return a ? known::map(*a, [&](double x) { return rounded(call, function(x)); }) : std::nullopt;
}

template <double (*function)(double, double)> static MaybeKnown mapTwo(CallBuilder &call, StringRef second = "other") {
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, second);
  return a && b ? known::map(*a, *b, [&](double x, double y) { return rounded(call, function(x, y)); }) : std::nullopt;
}

static double xorOf(double x, double y) { return (x != 0) != (y != 0); }
static double minus(double x) { return -x; }
static double inverseRoot(double x) { return 1 / std::sqrt(x); }
static double quotient(double x, double y) { return x / y; }
static double sumOf(double x, double y) { return x + y; }
static double differenceOf(double x, double y) { return x - y; }
static double productOf(double x, double y) { return x * y; }
static double largerOf(double x, double y) { return std::max(x, y); }
static double smallerOf(double x, double y) { return std::min(x, y); }
static double remainderOf(double x, double y) {
  double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
static double floorOf(double x, double y) { return y == 0 ? x / y : std::round((x - remainderOf(x, y)) / y); }
static double powerOf(double x, double y) { return std::pow(x, y); }
static double reciprocalOf(double x) { return 1 / x; }

/// a + factor * b of integers, and of floats whose alpha is 1.
template <int factor> static MaybeKnown evaluateSum(CallBuilder &call) {
  if (call.number("alpha", 1) != 1)
    return std::nullopt;
  if (isFloatResult(call))
    return factor > 0 ? mapTwo<sumOf>(call) : mapTwo<differenceOf>(call);
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  return a && b ? known::add(*a, *b, factor) : std::nullopt;
}
static MaybeKnown evaluateProduct(CallBuilder &call) {
  if (isFloatResult(call))
    return mapTwo<productOf>(call);
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  return a && b ? known::multiply(*a, *b) : std::nullopt;
}
template <double (*function)(double, double)> static MaybeKnown mapTwoOthers(CallBuilder &call) {
  return mapTwo<function>(call);
}
/// Products of each element of a vector with each of another.
static MaybeKnown evaluateOuter(CallBuilder &call) {
  const MaybeKnown &a = call.known("self"), &b = call.known("vec2");
  const SmallVector<int64_t> &shape = call.resultType().shape;
  if (!a || !b || a->shape.size() != 1 || b->shape.size() != 1 || shape.size() != 2)
    return std::nullopt;
  MaybeKnown column = known::reshape(*a, {a->shape[0], 1});
  MaybeKnown left = column ? known::broadcast(*column, shape) : std::nullopt, right = known::broadcast(*b, shape);
  if (!left || !right)
    return std::nullopt;
  return known::map(*left, *right, [&](double x, double y) { return rounded(call, x * y); });
}
static MaybeKnown evaluateXor(CallBuilder &call) {
  return elementOf(call).isInteger(1) ? mapTwo<xorOf>(call) : std::nullopt;
}
static MaybeKnown evaluateClamp(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self");
  double low = call.number("min", -HUGE_VAL), high = call.number("max", HUGE_VAL);
  return a ? known::map(*a, [&](double x) { return rounded(call, std::min(std::max(x, low), high)); }) : std::nullopt;
}
static MaybeKnown evaluatePower(CallBuilder &call) { return mapTwo<powerOf>(call, "exponent"); }
static MaybeKnown evaluateQuotient(CallBuilder &call) {
  return isFloatResult(call) ? mapTwo<quotient>(call) : std::nullopt;
}

/// Comparisons of integers: where factor * (self - other) >= least.
template <int factor, int least> static MaybeKnown evaluateOrder(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  // Only for integers does a difference of at least 1 mean one above 0.
  auto isWhole = [&](StringRef name) {
    if (call.isNumber(name))
      return call.number(name) == std::floor(call.number(name));
    ScalarType type = call.typeOfArgument(name).element;
    return type == ScalarType::I32 || type == ScalarType::I64 || type == ScalarType::Bool;
  };
  if (!a || !b || (least != 0 && (!isWhole("self") || !isWhole("other"))))
    return std::nullopt;
  return factor > 0 ? known::isAtLeast(*a, *b, least) : known::isAtLeast(*b, *a, least);
}
static MaybeKnown evaluateEqual(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  return a && b ? known::isEqual(*a, *b) : std::nullopt;
}
static MaybeKnown evaluateUnequal(CallBuilder &call) {
  MaybeKnown same = evaluateEqual(call);
  return same ? known::logicalNot(*same) : std::nullopt;
}
static MaybeKnown evaluateAnd(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  return a && b ? known::logicalAnd(*a, *b) : std::nullopt;
}
static MaybeKnown evaluateNot(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self");
  return a ? known::logicalNot(*a) : std::nullopt;
}
static MaybeKnown evaluateOr(CallBuilder &call) {
  MaybeKnown a = knownOperand(call, "self"), b = knownOperand(call, "other");
  return a && b ? known::logicalOr(*a, *b) : std::nullopt;
}

/// A choice between integers or booleans. A table of floats would take memory, and masks are recognized as a select.
static MaybeKnown evaluateChoice(CallBuilder &call, StringRef condition, StringRef ifTrue, StringRef ifFalse) {
  if (isFloatResult(call))
    return std::nullopt;
  MaybeKnown where = knownOperand(call, condition), a = knownOperand(call, ifTrue), b = knownOperand(call, ifFalse);
  std::optional<std::vector<double>> picks = where ? where->numbers() : std::nullopt;
  std::optional<std::vector<double>> first = a ? a->numbers() : std::nullopt, second = b ? b->numbers() : std::nullopt;
  if (!picks || !first || !second)
    return std::nullopt;
  for (size_t i = 0; i < picks->size(); ++i)
    (*second)[i] = (*picks)[i] != 0 ? (*first)[i] : (*second)[i];
  return known::dense(call.resultType().shape, std::move(*second));
}
static MaybeKnown evaluateFill(CallBuilder &call) {
  if (elementOf(call).isInteger(1))
    return known::boolean(call.resultType().shape, call.number("value") != 0);
  return knownOperand(call, "value");
}
static MaybeKnown evaluateWhere(CallBuilder &call) { return evaluateChoice(call, "condition", "self", "other"); }
static MaybeKnown evaluateMaskedFill(CallBuilder &call) { return evaluateChoice(call, "mask", "value", "self"); }

/// Conversions. Integers and booleans that keep their type stay in their form, others are rounded one by one.
static MaybeKnown evaluateConversion(CallBuilder &call) {
  const MaybeKnown &a = call.known("self");
  bool keepsForm =
      a && !isFloatResult(call) && (elementOf(call).isInteger(1) ? a->band() != nullptr : a->affine() != nullptr);
  if (!a || keepsForm)
    return a;
  return known::map(*a, [&](double x) { return rounded(call, x); });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

static constexpr OpRow kElementwiseRows[] = {
    {"aten.add.Tensor", "self:T other:TN alpha:N?", binary<arith::AddFOp, arith::AddIOp>, evaluateSum<1>,
     "arith.addf, addi"},
    {"aten.add.Scalar", "self:T other:TN alpha:N?", binary<arith::AddFOp, arith::AddIOp>, evaluateSum<1>,
     "arith.addf, addi"},
    {"aten.sub.Tensor", "self:TN other:TN alpha:N?", binary<arith::SubFOp, arith::SubIOp>, evaluateSum<-1>,
     "arith.subf, subi"},
    {"aten.sub.Scalar", "self:T other:TN alpha:N?", binary<arith::SubFOp, arith::SubIOp>, evaluateSum<-1>,
     "arith.subf, subi"},
    {"aten.rsub.Scalar", "self:T other:N alpha:N?", subtractFrom, nullptr, "arith.subf, subi"},
    {"aten.rsub.Tensor", "self:T other:T alpha:N?", subtractFrom, nullptr, "arith.subf, subi"},
    {"aten.mul.Tensor", "self:T other:TN", binary<arith::MulFOp, arith::MulIOp>, evaluateProduct, "arith.mulf, muli"},
    {"aten.mul.Scalar", "self:T other:TN", binary<arith::MulFOp, arith::MulIOp>, evaluateProduct, "arith.mulf, muli"},
    {"aten.outer.default", "self:T vec2:T", outer, evaluateOuter, "arith.mulf"},
    {"aten.div.Tensor", "self:T other:TN", divide, evaluateQuotient, "arith.divf"},
    {"aten.floor_divide.default", "self:T other:TN", floorDivide, mapTwoOthers<floorOf>, "math.floor, arith.divsi"},
    {"aten.remainder.Scalar", "self:T other:N", remainder, mapTwoOthers<remainderOf>, "math.floor, arith.remsi"},
    {"aten.remainder.Tensor", "self:T other:T", remainder, mapTwoOthers<remainderOf>, "math.floor, arith.remsi"},
    {"aten.div.Tensor_mode", "self:T other:TN rounding_mode:S?", divide, nullptr, "arith.divf, divsi, math.floor"},
    {"aten.div.Scalar_mode", "self:T other:N rounding_mode:S?", divide, nullptr, "arith.divf, divsi, math.floor"},
    {"aten.true_divide.Tensor", "self:T other:T", divide, evaluateQuotient, "arith.divf"},
    {"aten.div.Scalar", "self:T other:TN", divide, evaluateQuotient, "arith.divf"},
    {"aten.pow.Tensor_Scalar", "self:T exponent:N", power, evaluatePower, "products, math.sqrt, rsqrt or powf"},
    {"aten.pow.Tensor_Tensor", "self:T exponent:T", power, evaluatePower, "math.powf"},
    {"aten.pow.Scalar", "self:N exponent:T", power, evaluatePower, "math.powf"},
    {"aten.reciprocal.default", "self:T", reciprocal, mapOne<reciprocalOf>, "arith.divf"},
    {"aten.maximum.default", "self:T other:T", binary<arith::MaximumFOp, arith::MaxSIOp>, mapTwoOthers<largerOf>,
     "arith.maximumf, maxsi"},
    {"aten.minimum.default", "self:T other:T", binary<arith::MinimumFOp, arith::MinSIOp>, mapTwoOthers<smallerOf>,
     "arith.minimumf, minsi"},
    {"aten.max.other", "self:T other:T", binary<arith::MaximumFOp, arith::MaxSIOp>, mapTwoOthers<largerOf>,
     "arith.maximumf, maxsi"},
    {"aten.min.other", "self:T other:T", binary<arith::MinimumFOp, arith::MinSIOp>, mapTwoOthers<smallerOf>,
     "arith.minimumf, minsi"},
    {"aten.clamp.default", "self:T min:N? max:N?", clamp, evaluateClamp, "arith.select, maxsi, minsi"},
    {"aten.clamp_min.default", "self:T min:N", clamp, evaluateClamp, "arith.select, maxsi"},
    {"aten.clamp_max.default", "self:T max:N", clamp, evaluateClamp, "arith.select, minsi"},
    {"aten.clamp.Tensor", "self:T min:T? max:T?", clamp, nullptr, "arith.maximumf, minimumf"},
    {"aten.neg.default", "self:T", negate, mapOne<minus>, "arith.negf, subi"},
    {"aten.abs.default", "self:T", absolute, mapOne<std::fabs>, "math.absf, arith.maxsi"},
    {"aten.exp.default", "self:T", unary<math::ExpOp>, mapOne<std::exp>, "math.exp"},
    {"aten.log.default", "self:T", unary<math::LogOp>, mapOne<std::log>, "math.log"},
    {"aten.sqrt.default", "self:T", unary<math::SqrtOp>, mapOne<std::sqrt>, "math.sqrt"},
    {"aten.rsqrt.default", "self:T", unary<math::RsqrtOp>, mapOne<inverseRoot>, "math.rsqrt"},
    {"aten.tanh.default", "self:T", unary<math::TanhOp>, mapOne<std::tanh>, "math.tanh"},
    {"aten.erf.default", "self:T", unary<math::ErfOp>, mapOne<std::erf>, "math.erf"},
    {"aten.sin.default", "self:T", unary<math::SinOp>, mapOne<std::sin>, "math.sin"},
    {"aten.cos.default", "self:T", unary<math::CosOp>, mapOne<std::cos>, "math.cos"},
    {"aten.sigmoid.default", "self:T", sigmoid, nullptr, "1 / (1 + exp(-x))"},
    {"aten.log1p.default", "self:T", unary<math::Log1pOp>, mapOne<std::log1p>, "math.log1p"},
    {"aten.gelu.default", "self:T approximate:S?", gelu, nullptr, "tg.gelu"},
    {"aten.silu.default", "self:T", silu, nullptr, "tg.silu"},
    {"aten.relu.default", "self:T", relu, nullptr, "tg.relu"},
    {"aten.to.dtype", "self:T dtype:D", convert, evaluateConversion, "tg.convert", "non_blocking copy",
     /*isView=*/true},
    {"aten.to.dtype_layout", "self:T dtype:D?", convert, evaluateConversion, "tg.convert",
     "pin_memory non_blocking copy", /*isView=*/true},
    {"aten.to.device", "self:T dtype:D?", convert, evaluateConversion, "tg.convert", "non_blocking copy",
     /*isView=*/true},
    {"aten._to_copy.default", "self:T dtype:D?", convert, evaluateConversion, "tg.convert", "pin_memory non_blocking"},
    {"aten.type_as.default", "self:T other:T", convert, evaluateConversion, "tg.convert", "", /*isView=*/true},
    {"aten.contiguous.default", "self:T", identity, evaluateConversion, "nothing", "", /*isView=*/true},
    {"aten.clone.default", "self:T", identity, evaluateConversion, "nothing"},
    {"aten.alias.default", "self:T", identity, evaluateConversion, "nothing", "", /*isView=*/true},
    {"aten.lift_fresh_copy.default", "self:T", identity, evaluateConversion, "nothing"},
    {"aten.detach.default", "self:T", detach, evaluateConversion, "tg.stop_gradient", "", /*isView=*/true},
    {"aten.detach_.default", "self:T", detach, evaluateConversion, "tg.stop_gradient"},
    {"aten.copy.default", "self:T src:T", copy, nullptr, "the source", "non_blocking"},
    {"aten.fill.Scalar", "self:T value:N", fill, evaluateFill, "a constant"},
    {"aten.dropout.default", "input:T p:N train:B", dropout, nullptr, "tg.dropout"},
    {"aten.eq.Tensor", "self:T other:T", compare<FP::OEQ, IP::eq>, evaluateEqual, "arith.cmpf, cmpi"},
    {"aten.eq.Scalar", "self:T other:N", compare<FP::OEQ, IP::eq>, evaluateEqual, "arith.cmpf, cmpi"},
    {"aten.ne.Tensor", "self:T other:T", compare<FP::UNE, IP::ne>, evaluateUnequal, "arith.cmpf, cmpi"},
    {"aten.ne.Scalar", "self:T other:N", compare<FP::UNE, IP::ne>, evaluateUnequal, "arith.cmpf, cmpi"},
    {"aten.lt.Tensor", "self:T other:T", compare<FP::OLT, IP::slt>, evaluateOrder<-1, 1>, "arith.cmpf, cmpi"},
    {"aten.lt.Scalar", "self:T other:N", compare<FP::OLT, IP::slt>, evaluateOrder<-1, 1>, "arith.cmpf, cmpi"},
    {"aten.le.Tensor", "self:T other:T", compare<FP::OLE, IP::sle>, evaluateOrder<-1, 0>, "arith.cmpf, cmpi"},
    {"aten.le.Scalar", "self:T other:N", compare<FP::OLE, IP::sle>, evaluateOrder<-1, 0>, "arith.cmpf, cmpi"},
    {"aten.gt.Tensor", "self:T other:T", compare<FP::OGT, IP::sgt>, evaluateOrder<1, 1>, "arith.cmpf, cmpi"},
    {"aten.gt.Scalar", "self:T other:N", compare<FP::OGT, IP::sgt>, evaluateOrder<1, 1>, "arith.cmpf, cmpi"},
    {"aten.ge.Tensor", "self:T other:T", compare<FP::OGE, IP::sge>, evaluateOrder<1, 0>, "arith.cmpf, cmpi"},
    {"aten.ge.Scalar", "self:T other:N", compare<FP::OGE, IP::sge>, evaluateOrder<1, 0>, "arith.cmpf, cmpi"},
    {"aten.__and__.Tensor", "self:T other:T", logical<arith::AndIOp>, evaluateAnd, "arith.andi"},
    {"aten.bitwise_and.Tensor", "self:T other:T", logical<arith::AndIOp>, evaluateAnd, "arith.andi"},
    {"aten.logical_and.default", "self:T other:T", logical<arith::AndIOp>, evaluateAnd, "arith.andi"},
    {"aten.__or__.Tensor", "self:T other:T", logical<arith::OrIOp>, evaluateOr, "arith.ori"},
    {"aten.logical_or.default", "self:T other:T", logical<arith::OrIOp>, evaluateOr, "arith.ori"},
    {"aten.__xor__.Tensor", "self:T other:T", logical<arith::XOrIOp>, evaluateXor, "arith.xori"},
    {"aten.bitwise_xor.Tensor", "self:T other:T", logical<arith::XOrIOp>, evaluateXor, "arith.xori"},
    {"aten.bitwise_or.Tensor", "self:T other:T", logical<arith::OrIOp>, evaluateOr, "arith.ori"},
    {"aten.logical_not.default", "self:T", logicalNot, evaluateNot, "arith.xori"},
    {"aten.bitwise_not.default", "self:T", logicalNot, evaluateNot, "arith.xori"},
    {"aten.where.self", "condition:T self:T other:T", where, evaluateWhere, "arith.select"},
    {"aten.where.ScalarOther", "condition:T self:T other:N", where, evaluateWhere, "arith.select"},
    {"aten.where.ScalarSelf", "condition:T self:N other:T", where, evaluateWhere, "arith.select"},
    {"aten.where.Scalar", "condition:T self:N other:N", where, evaluateWhere, "arith.select"},
    {"aten.masked_fill.Scalar", "self:T mask:T value:N", maskedFill, evaluateMaskedFill, "arith.select"},
    {"aten.masked_fill.Tensor", "self:T mask:T value:T", maskedFill, evaluateMaskedFill, "arith.select"},
    {"aten._assert_async.msg", "self:T assert_msg:S", nullptr, nullptr, "nothing, if it is known to hold", "",
     /*isView=*/false, /*isAssertion=*/true},
    {"aten._assert_tensor_metadata.default", "a:T", nullptr, nullptr, "nothing: types and shapes are static",
     "size stride dtype device layout"},
};

ArrayRef<OpRow> braid::torch::elementwiseRows() { return kElementwiseRows; }
