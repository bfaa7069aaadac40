//===- Evaluate.h - arithmetic on known operands ----------------*- C++ -*-===//
//
// A band stands for truth values, and for the numbers 0 and 1 of a mask that was converted.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_EVALUATE_H
#define BRAID_LIB_IMPORT_STABLEHLO_EVALUATE_H

#include "lib/Import/StableHLO/Translator.h"

namespace braid::stablehlo {

/// The attribute of functions of numbers that states the wanted accuracy.
inline constexpr llvm::StringLiteral kResultAccuracy = "result_accuracy";

/// A direction of comparisons.
struct Order {
  mlir::arith::CmpFPredicate floats;
  mlir::arith::CmpIPredicate integers;
};
/// Returns the direction of a comparison, or nothing if its word is none.
std::optional<Order> orderOf(SourceOp &op);

/// Apply a function to each number, and round to the result's type. Return nothing for integers that leave 32 bits.
MaybeKnown evaluateNumbers(SourceOp &op, llvm::function_ref<double(double)> function);
MaybeKnown evaluateNumbers(SourceOp &op, llvm::function_ref<double(double, double)> function);

template <double (*function)(double)> MaybeKnown evaluateOne(SourceOp &op) {
  return evaluateNumbers(op, [](double x) { return function(x); });
}
template <double (*function)(double, double), bool ofIntegers = true> MaybeKnown evaluateTwo(SourceOp &op) {
  if (!ofIntegers && !op.isFloatResult())
    return std::nullopt;
  return evaluateNumbers(op, [](double x, double y) { return function(x, y); });
}

/// a + factor * b.
MaybeKnown evaluateSum(SourceOp &op, int factor);
template <int factor> MaybeKnown evaluateSum(SourceOp &op) { return evaluateSum(op, factor); }
MaybeKnown evaluateProduct(SourceOp &op);
MaybeKnown evaluateCompare(SourceOp &op);
MaybeKnown evaluateSelect(SourceOp &op);
/// Whether numbers are positions none of which is below 0, so that they are the same with and without a sign.
bool isNatural(const Known &a);
MaybeKnown evaluateConvert(SourceOp &op);
MaybeKnown evaluateAnd(SourceOp &op);
MaybeKnown evaluateOr(SourceOp &op);
MaybeKnown evaluateNot(SourceOp &op);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_EVALUATE_H
