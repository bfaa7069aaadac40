//===- Elementwise.cpp - arith and math on single elements ----------------===//

#include "lib/Reference/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Builders of element functions
//===----------------------------------------------------------------------===//

template <typename F> static ElementFunction unary(F compute) {
  return [compute](const Element *in, Element *out) { out->f = compute(in[0].f); };
}

template <typename F> static ElementFunction binary(F compute) {
  return [compute](const Element *in, Element *out) { out->f = compute(in[0].f, in[1].f); };
}

/// Returns the signed value of an int: an i1 is held as 0 or 1, but its signed value is 0 or -1.
static int64_t signedOf(Type type, int64_t value) { return type.isInteger(1) ? -value : value; }

/// Returns an int op on the signed values of its operands.
template <typename F> static ElementFunction integer(Operation *op, F compute) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return [compute, type](const Element *in, Element *out) {
    out->i = wrapTo(type, compute(signedOf(type, in[0].i), signedOf(type, in[1].i)));
  };
}

/// Returns the bits of a value in the int's type.
static APInt bitsOf(Type type, int64_t value) {
  return APInt(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(), static_cast<uint64_t>(value));
}

/// Returns the unsigned number with the same bits.
static uint64_t unsignedOf(Type type, int64_t value) { return bitsOf(type, value).getZExtValue(); }

/// Returns an int op on the unsigned values of its operands.
template <typename F> static ElementFunction unsignedOp(Operation *op, F compute) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  Type resultType = getElementTypeOrSelf(op->getResult(0).getType());
  return [=](const Element *in, Element *out) {
    out->i = wrapTo(resultType, compute(unsignedOf(type, in[0].i), unsignedOf(type, in[1].i)));
  };
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

template <typename F> static ElementFunction toFloat(F convert) {
  return [convert](const Element *in, Element *out) { out->f = static_cast<double>(convert(*in)); };
}

template <typename F> static ElementFunction toInt(F convert) {
  return [convert](const Element *in, Element *out) { out->i = convert(*in); };
}

static ElementFunction conversion(Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  return TypeSwitch<Operation *, ElementFunction>(op)
      .Case<arith::ExtFOp>([](auto) { return unary([](double x) { return x; }); })
      .Case<arith::TruncFOp>([=](auto) { return unary([=](double x) { return roundTo(to, x); }); })
      .Case<arith::SIToFPOp>([=](auto) { return toFloat([=](Element x) { return signedOf(from, x.i); }); })
      .Case<arith::UIToFPOp>([=](auto) { return toFloat([=](Element x) { return unsignedOf(from, x.i); }); })
      .Case<arith::FPToSIOp>([=](auto) { return toInt([=](Element x) { return saturateTo(to, x.f); }); })
      .Case<arith::FPToUIOp>([=](auto) { return toInt([=](Element x) { return saturateTo(to, x.f, false); }); })
      .Case<arith::ExtSIOp>([=](auto) { return toInt([=](Element x) { return signedOf(from, x.i); }); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [=](auto) { return toInt([=](Element x) { return wrapTo(to, unsignedOf(from, x.i)); }); })
      .Case<arith::TruncIOp>([=](auto) { return toInt([=](Element x) { return wrapTo(to, x.i); }); })
      .Case<arith::IndexCastOp>([=](auto) { return toInt([=](Element x) { return wrapTo(to, signedOf(from, x.i)); }); })
      .Default([](Operation *) { return nullptr; });
}

/// Reinterprets the bits of one type as another: f32 and i32, f64 and i64.
static ElementFunction bitcastFunction(arith::BitcastOp op) {
  Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
  if (from.isF32() && to.isInteger(32))
    return [](const Element *in, Element *out) { out->i = std::bit_cast<int32_t>(static_cast<float>(in->f)); };
  if (from.isInteger(32) && to.isF32())
    return [](const Element *in, Element *out) { out->f = std::bit_cast<float>(static_cast<int32_t>(in->i)); };
  if (from.getIntOrFloatBitWidth() == 64)
    return [](const Element *in, Element *out) { *out = *in; };
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

static ElementFunction floatFunction(Operation *op) {
  // std::fmax ignores NaN, as maxnum does; maximum propagates NaN.
  auto propagating = [](auto pick) {
    return binary([pick](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : pick(a, b); });
  };
  return TypeSwitch<Operation *, ElementFunction>(op)
      .Case<arith::AddFOp>([](auto) { return binary([](double a, double b) { return a + b; }); })
      .Case<arith::SubFOp>([](auto) { return binary([](double a, double b) { return a - b; }); })
      .Case<arith::MulFOp>([](auto) { return binary([](double a, double b) { return a * b; }); })
      .Case<arith::DivFOp>([](auto) { return binary([](double a, double b) { return a / b; }); })
      .Case<arith::RemFOp>([](auto) { return binary([](double a, double b) { return std::fmod(a, b); }); })
      .Case<arith::NegFOp>([](auto) { return unary([](double x) { return -x; }); })
      .Case<arith::MaximumFOp>([&](auto) { return propagating([](double a, double b) { return std::max(a, b); }); })
      .Case<arith::MinimumFOp>([&](auto) { return propagating([](double a, double b) { return std::min(a, b); }); })
      .Case<arith::MaxNumFOp>([](auto) { return binary([](double a, double b) { return std::fmax(a, b); }); })
      .Case<arith::MinNumFOp>([](auto) { return binary([](double a, double b) { return std::fmin(a, b); }); })
      .Case<arith::CmpFOp>([](arith::CmpFOp compare) -> ElementFunction {
        return [predicate = compare.getPredicate()](const Element *in, Element *out) {
          out->i = arith::applyCmpPredicate(predicate, APFloat(in[0].f), APFloat(in[1].f));
        };
      })
      .Default([](Operation *) { return nullptr; });
}

static ElementFunction mathFunction(Operation *op) {
  using U = double (*)(double);
  static const llvm::StringMap<U> unaries = {{"math.absf", [](double x) { return std::fabs(x); }},
                                             {"math.acos", [](double x) { return std::acos(x); }},
                                             {"math.asin", [](double x) { return std::asin(x); }},
                                             {"math.atan", [](double x) { return std::atan(x); }},
                                             {"math.cbrt", [](double x) { return std::cbrt(x); }},
                                             {"math.ceil", [](double x) { return std::ceil(x); }},
                                             {"math.cos", [](double x) { return std::cos(x); }},
                                             {"math.cosh", [](double x) { return std::cosh(x); }},
                                             {"math.erf", [](double x) { return std::erf(x); }},
                                             {"math.exp", [](double x) { return std::exp(x); }},
                                             {"math.exp2", [](double x) { return std::exp2(x); }},
                                             {"math.expm1", [](double x) { return std::expm1(x); }},
                                             {"math.floor", [](double x) { return std::floor(x); }},
                                             {"math.log", [](double x) { return std::log(x); }},
                                             {"math.log10", [](double x) { return std::log10(x); }},
                                             {"math.log1p", [](double x) { return std::log1p(x); }},
                                             {"math.log2", [](double x) { return std::log2(x); }},
                                             {"math.round", [](double x) { return std::round(x); }},
                                             {"math.roundeven", [](double x) { return std::nearbyint(x); }},
                                             {"math.rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
                                             {"math.sin", [](double x) { return std::sin(x); }},
                                             {"math.sinh", [](double x) { return std::sinh(x); }},
                                             {"math.sqrt", [](double x) { return std::sqrt(x); }},
                                             {"math.tan", [](double x) { return std::tan(x); }},
                                             {"math.tanh", [](double x) { return std::tanh(x); }},
                                             {"math.trunc", [](double x) { return std::trunc(x); }}};
  auto found = unaries.find(op->getName().getStringRef());
  if (found != unaries.end())
    return unary(found->second);
  return TypeSwitch<Operation *, ElementFunction>(op)
      .Case<math::PowFOp>([](auto) { return binary([](double a, double b) { return std::pow(a, b); }); })
      .Case<math::Atan2Op>([](auto) { return binary([](double a, double b) { return std::atan2(a, b); }); })
      .Case<math::CopySignOp>([](auto) { return binary([](double a, double b) { return std::copysign(a, b); }); })
      .Case<math::FPowIOp>([](auto) -> ElementFunction {
        return [](const Element *in, Element *out) { out->f = std::pow(in[0].f, static_cast<double>(in[1].i)); };
      })
      .Case<math::FmaOp>([](auto) -> ElementFunction {
        return [](const Element *in, Element *out) { out->f = std::fma(in[0].f, in[1].f, in[2].f); };
      })
      .Case<math::AbsIOp>([](auto) { return toInt([](Element x) { return std::abs(x.i); }); })
      .Default([](Operation *) { return nullptr; });
}

static ElementFunction intFunction(Operation *op) {
  using I = int64_t;
  using U = uint64_t;
  // Sums and products wrap, so they are computed unsigned. Division by zero, which is
  // undefined in arith, gives zero.
  return TypeSwitch<Operation *, ElementFunction>(op)
      .Case<arith::AddIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a + b; }); })
      .Case<arith::SubIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a - b; }); })
      .Case<arith::MulIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a * b; }); })
      .Case<arith::DivSIOp>([&](auto) {
        return integer(op, [](I a, I b) { return b == 0 ? 0 : b == -1 ? I(-U(a)) : a / b; });
      })
      .Case<arith::RemSIOp>([&](auto) { return integer(op, [](I a, I b) { return b == 0 || b == -1 ? 0 : a % b; }); })
      .Case<arith::DivUIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return b == 0 ? 0 : a / b; }); })
      .Case<arith::RemUIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return b == 0 ? 0 : a % b; }); })
      .Case<arith::AndIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a & b; }); })
      .Case<arith::OrIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a | b; }); })
      .Case<arith::XOrIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return a ^ b; }); })
      .Case<arith::ShLIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return b < 64 ? a << b : 0; }); })
      .Case<arith::ShRUIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return b < 64 ? a >> b : 0; }); })
      .Case<arith::ShRSIOp>([&](auto) { return integer(op, [](I a, I b) { return a >> std::min<I>(b, 63); }); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(op, [](I a, I b) { return std::max(a, b); }); })
      .Case<arith::MinSIOp>([&](auto) { return integer(op, [](I a, I b) { return std::min(a, b); }); })
      .Case<arith::MaxUIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return std::max(a, b); }); })
      .Case<arith::MinUIOp>([&](auto) { return unsignedOp(op, [](U a, U b) { return std::min(a, b); }); })
      .Case<arith::CmpIOp>([](arith::CmpIOp compare) -> ElementFunction {
        Type type = getElementTypeOrSelf(compare.getLhs().getType());
        return [predicate = compare.getPredicate(), type](const Element *in, Element *out) {
          out->i = arith::applyCmpPredicate(predicate, bitsOf(type, in[0].i), bitsOf(type, in[1].i));
        };
      })
      .Case<arith::MulUIExtendedOp>([](arith::MulUIExtendedOp multiply) -> ElementFunction {
        Type type = getElementTypeOrSelf(multiply.getLhs().getType());
        unsigned width = type.getIntOrFloatBitWidth();
        return [type, width](const Element *in, Element *out) {
          auto product = static_cast<unsigned __int128>(unsignedOf(type, in[0].i)) * unsignedOf(type, in[1].i);
          out[0].i = wrapTo(type, static_cast<int64_t>(static_cast<uint64_t>(product)));
          out[1].i = wrapTo(type, static_cast<int64_t>(static_cast<uint64_t>(product >> width)));
        };
      })
      .Default([](Operation *) { return nullptr; });
}

ElementFunction braid::reference::elementFunction(Operation *op) {
  if (isa<arith::SelectOp>(op))
    return [](const Element *in, Element *out) { *out = in[0].i ? in[1] : in[2]; };
  if (auto bitcast = dyn_cast<arith::BitcastOp>(op))
    return bitcastFunction(bitcast);
  for (auto find : {floatFunction, mathFunction, intFunction, conversion})
    if (op->getNumResults() > 0 && op->getNumOperands() > 0)
      if (ElementFunction function = find(op))
        return function;
  return nullptr;
}

Results braid::reference::evaluateElementwise(Operation *op, const ElementFunction &function, const Operands &in) {
  const Tensor *largest = &in[0];
  for (unsigned k = 1; k < in.size(); ++k)
    if (std::pair(in[k].size(), in[k].rank()) > std::pair(largest->size(), largest->rank()))
      largest = &in[k];
  SmallVector<Tensor> results;
  for (Type type : op->getResultTypes())
    results.emplace_back(largest->shape, getElementTypeOrSelf(type));
  SmallVector<Element, 4> arguments(in.size()), values(results.size());
  for (int64_t i = 0; i < largest->size(); ++i) {
    for (unsigned k = 0; k < in.size(); ++k)
      arguments[k] = in[k][in[k].size() == 1 ? 0 : i];
    function(arguments.data(), values.data());
    for (unsigned r = 0; r < results.size(); ++r)
      results[r][i] = values[r];
  }
  return results;
}
