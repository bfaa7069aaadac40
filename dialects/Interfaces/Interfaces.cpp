//===- Interfaces.cpp - defaults shared by the op interfaces --------------===//

#include "dialects/Interfaces/Interfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

#include "dialects/Interfaces/Interfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

braid::NumericKind braid::numericKindOf(Operation *op) {
  if (auto precise = dyn_cast<PrecisionOpInterface>(op))
    return precise.getNumericKind();
  return op->hasTrait<OpTrait::Elementwise>() ? NumericKind::Elementwise : NumericKind::Source;
}

bool braid::onlyMovesOrRounds(Operation *op) {
  NumericKind kind = numericKindOf(op);
  return kind == NumericKind::Movement || kind == NumericKind::Conversion;
}

Value braid::cloneWide(Operation *op, OpBuilder &builder, Type element, Widen widen) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<FloatType>(getElementTypeOrSelf(operand)) && !mapping.contains(operand))
      mapping.map(operand, widen(operand));
  Operation *clone = builder.clone(*op, mapping);
  Value result = clone->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(element));
  return result;
}

Value braid::moveWide(Operation *op, OpBuilder &builder, Type element, Widen widen) {
  return numericKindOf(op) == NumericKind::Movement ? cloneWide(op, builder, element, widen) : Value();
}

//===----------------------------------------------------------------------===//
// Reshapes and conversions
//===----------------------------------------------------------------------===//

bool braid::isReshape(Operation *op) {
  return op->hasTrait<KeepsElements>() &&
         getElementTypeOrSelf(op->getOperand(0)) == getElementTypeOrSelf(op->getResult(0));
}

Value braid::stripReshapes(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isReshape(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

bool braid::isConversion(Operation *op) { return numericKindOf(op) == NumericKind::Conversion; }

Value braid::conversionSource(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isConversion(op) ? op->getOperand(0) : Value();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

int64_t braid::elementBytes(Type elementType) { return (elementType.getIntOrFloatBitWidth() + 7) / 8; }

int64_t braid::bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += tensor.getNumElements() * elementBytes(tensor.getElementType());
  return bytes;
}

int64_t braid::defaultFlops(Operation *op) {
  int64_t flops = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      flops += tensor.getNumElements();
  return flops;
}
