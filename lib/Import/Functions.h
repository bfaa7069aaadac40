//===- Functions.h - functions of floats, as formulas -----------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_FUNCTIONS_H
#define BRAID_LIB_IMPORT_FUNCTIONS_H

#include "dialects/TG/TGBuilder.h"

namespace braid {

/// Builds functions for which kernels have no code of their own, from tensors of floats of one type.
///
/// atan, atan2, asin, acos, erfInverse and erfComplement are polynomials, as XLA and Cephes have them. Relative errors
/// are below 2^-22; of erfInverse near 1, and of erfComplement far above 0, below 2^-18. Each has the exact gradient,
/// because a polynomial's own derivative is less exact.
class FunctionBuilder {
public:
  using Value = mlir::Value;

  /// `hasGradients` says that the program has its own gradients, and none is derived from the formulas.
  FunctionBuilder(tg::TensorBuilder &b, bool hasGradients) : b(b), hasGradients(hasGradients) {}

  // Circular and hyperbolic functions.
  Value tan(Value x);
  Value atan(Value x);
  /// The angle of the point (x, y).
  Value atan2(Value y, Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);

  // Signs, roots and error functions.
  /// |x|, whose gradient is 1 at 0.
  Value magnitude(Value x);
  Value cubeRoot(Value x);
  Value erfInverse(Value x);
  /// 1 - erf(x), without cancellation.
  Value erfComplement(Value x);

  // Steps, whose gradient is 0.
  /// 1, 0 or -1; 0 of NaN.
  Value sign(Value x);
  Value floor(Value x);
  Value ceil(Value x);
  /// Toward 0.
  Value trunc(Value x);
  /// To the nearest integer, and to the even one of two.
  Value roundToEven(Value x);
  /// To the nearest integer, and away from 0 of two.
  Value roundFromZero(Value x);

  /// a - b trunc(a / b), exact where the quotient is below 2^24 in float32.
  Value remainder(Value a, Value b);

private:
  Value constant(Value like, double number) { return b.constantLike(like, number); }
  Value stopped(Value x) { return hasGradients ? x : b.make<tg::StopGradientOp>(x); }
  Value where(mlir::arith::CmpFPredicate predicate, Value a, double limit, Value yes, Value no);
  Value absolute(Value x) { return b.make<mlir::math::AbsFOp>(x); }
  Value withSign(Value x, Value of) { return b.make<mlir::math::CopySignOp>(x, of); }
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients);
  Value withSlope(Value value, Value x, llvm::function_ref<Value()> slope);
  Value smallAngle(Value x);
  Value besideOne(Value x);
  /// log(2 x) where x is large.
  Value logOfTwice(Value x, Value otherwise);

  tg::TensorBuilder &b;
  const bool hasGradients;
};

} // namespace braid

#endif // BRAID_LIB_IMPORT_FUNCTIONS_H
