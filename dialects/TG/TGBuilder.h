//===- TGBuilder.h - tensor arithmetic, short to write ----------*- C++ -*-===//
//
// Decompositions and gradients are formulas. A TensorBuilder lets the code read like the formula: it
// builds arith, math and tg ops at one location, with constants and broadcasts of the right shape.
//
// "Lanes" are the last dim of a tensor; "rows" are all dims before it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_TGBUILDER_H
#define BRAID_DIALECTS_TG_TGBUILDER_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace braid::tg {

inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}
inline mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element) {
  return mlir::RankedTensorType::get(type.getShape(), element);
}
inline bool isFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(typeOf(value).getElementType()); }
/// Returns first, first + 1, ..., end - 1.
llvm::SmallVector<int64_t> dimRange(int64_t first, int64_t end);
/// Returns the dims of a tensor of `rank` that are not in `dims`.
llvm::SmallVector<int64_t> otherDims(llvm::ArrayRef<int64_t> dims, int64_t rank);
/// Returns the location of the ops in a composite's decomposition: the composite's location,
/// with the op's name as a suffix, and `definition` after it if the op has several definitions.
mlir::Location originOf(mlir::Operation *op, llvm::StringRef definition = "");

class TensorBuilder {
public:
  using Value = mlir::Value;

  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    return builder.create<OpTy>(loc, std::forward<Args>(args)...)->getResult(0);
  }

  // Constants in the given shape.
  Value constant(mlir::RankedTensorType type, double value);
  Value constantLike(Value shape, double value) { return constant(typeOf(shape), value); }
  Value zeros(mlir::RankedTensorType type) { return constant(type, 0.0); }
  /// Returns the index along `dim`, in the shape of `shape` with integers of `element`.
  Value iota(Value shape, int64_t dim, mlir::Type element);

  // Elementwise ops.
  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value neg(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value add(Value a, double b) { return add(a, constantLike(a, b)); }
  Value mul(Value a, double b) { return mul(a, constantLike(a, b)); }
  Value max(Value a, double b) { return make<mlir::arith::MaximumFOp>(a, constantLike(a, b)); }
  Value square(Value a) { return mul(a, a); }
  Value exp(Value a) { return make<mlir::math::ExpOp>(a); }
  Value log(Value a) { return make<mlir::math::LogOp>(a); }
  Value sqrt(Value a) { return make<mlir::math::SqrtOp>(a); }
  Value rsqrt(Value a) { return make<mlir::math::RsqrtOp>(a); }
  Value tanh(Value a) { return make<mlir::math::TanhOp>(a); }
  Value erf(Value a) { return make<mlir::math::ErfOp>(a); }
  Value sin(Value a) { return make<mlir::math::SinOp>(a); }
  Value cos(Value a) { return make<mlir::math::CosOp>(a); }
  Value pow(Value a, Value b) { return make<mlir::math::PowFOp>(a, b); }
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return make<mlir::arith::CmpIOp>(predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) { return make<mlir::arith::SelectOp>(condition, a, b); }
  /// Converts a value to another element type; returns it unchanged if it has that type.
  Value convert(Value a, mlir::Type element);
  /// Widens bf16 to f32. bf16 is a storage type: arithmetic is done in f32.
  Value widen(Value a);

  // Reductions and broadcasts.
  Value reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims);
  Value sum(Value a, llvm::ArrayRef<int64_t> dims) { return reduce(ReduceKind::Sum, a, dims); }
  Value sumAll(Value a) { return sum(a, dimRange(0, typeOf(a).getRank())); }
  /// Reduces the lanes to one value per row.
  Value reduceLanes(ReduceKind kind, Value a) { return reduce(kind, a, {typeOf(a).getRank() - 1}); }
  /// Sums the rows to one value per lane.
  Value sumRows(Value a) { return sum(a, dimRange(0, typeOf(a).getRank() - 1)); }
  Value broadcast(Value a, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims);
  /// Broadcast a scalar, one value per row, or one value per lane to the shape of `shape`.
  Value broadcastScalar(Value a, Value shape) {
    return broadcast(a, withElement(typeOf(shape), typeOf(a).getElementType()), {});
  }
  Value broadcastRows(Value a, Value shape);
  Value broadcastLanes(Value a, Value shape);

  // Movement and contraction.
  Value reshape(Value a, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value a, llvm::ArrayRef<int64_t> permutation) { return make<TransposeOp>(a, permutation); }
  Value slice(Value a, int64_t dim, int64_t offset, int64_t size);
  /// Returns the slice at `index`, a tensor<i32>, along `dim`, which then has size 1.
  Value at(Value a, int64_t dim, Value index);
  /// Pads `a` with zeros; returns it unchanged if `low` and `high` are 0.
  Value padZeros(Value a, int64_t dim, int64_t low, int64_t high);
  Value contract(const llvm::Twine &spec, Value a, Value b) {
    return make<ContractOp>(ContractionAttr::get(builder.getContext(), spec), a, b);
  }
  /// Like `contract`, but a contraction of bf16 gives its sums in f32.
  Value contractWide(const llvm::Twine &spec, Value a, Value b);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TGBUILDER_H
