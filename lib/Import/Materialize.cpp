//===- Materialize.cpp - known values as ops ------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "lib/Import/Operand.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Returns numbers as a constant; integers are rounded to 32 bits.
static DenseElementsAttr elementsOf(ArrayRef<double> numbers, RankedTensorType type) {
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    auto elements = map_to_vector(numbers, [&](double number) {
      APFloat rounded(number);
      bool losesInfo;
      rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      return rounded;
    });
    return DenseElementsAttr::get(type, elements);
  }
  auto elements = map_to_vector(numbers, [&](double number) {
    double nearest = std::isnan(number) ? 0 : std::clamp<double>(number, INT32_MIN, INT32_MAX);
    return APInt(type.getElementTypeBitWidth(), static_cast<int64_t>(nearest), /*isSigned=*/true);
  });
  return DenseElementsAttr::get(type, elements);
}

Value braid::materialize(Operand &operand, RankedTensorType type, OpBuilder &builder, Location loc, bool &hasFailed) {
  if (operand.value || !operand.known)
    return operand.value;
  tg::TensorBuilder b(builder, loc);
  RankedTensorType integers = tg::withElement(type, builder.getI32Type());
  auto affineValue = [&](const Affine &affine) {
    Value sum = affine.constant == 0 && !affine.isConstant() ? Value() : b.constant(integers, affine.constant);
    for (auto [dim, factor] : enumerate(affine.factors)) {
      if (factor == 0)
        continue;
      Value index = b.make<tg::IotaOp>(integers, dim);
      Value part = factor == 1 ? index : b.make<arith::MulIOp>(index, b.constant(integers, factor));
      sum = sum ? b.make<arith::AddIOp>(sum, part) : part;
    }
    return sum;
  };
  if (const Affine *affine = operand.known->affine())
    return operand.value = b.convert(affineValue(*affine), type.getElementType());
  if (const Band *band = operand.known->band()) {
    RankedTensorType booleans = tg::withElement(type, builder.getI1Type());
    Value all = b.constant(booleans, 1);
    for (const Affine &term : band->terms)
      all = b.make<arith::AndIOp>(all, b.compare(arith::CmpIPredicate::sge, affineValue(term), b.zeros(integers)));
    return operand.value = b.convert(all, type.getElementType());
  }
  bool isLarge = type.getNumElements() > kMaxConstantElements && !operand.known->splat();
  if (std::optional<Steps> steps = isLarge ? known::stepsOf(*operand.known, kMaxConstantElements) : std::nullopt) {
    Value position = affineValue(steps->position), value = b.constant(type, steps->first);
    for (auto [bound, next] : steps->changes)
      value = b.select(b.compare(arith::CmpIPredicate::sge, position, b.constant(integers, bound)),
                       b.constant(type, next), value);
    return operand.value = value;
  }
  if (isLarge) {
    emitError(loc) << "a table of " << type.getNumElements() << " integers or booleans that depends on no input is "
                   << "used as a tensor; at most " << kMaxConstantElements << " become a constant";
    hasFailed = true;
    return b.zeros(type);
  }
  return operand.value = b.make<arith::ConstantOp>(elementsOf(*operand.known->numbers(), type));
}
