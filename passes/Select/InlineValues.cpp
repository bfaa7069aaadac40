//===- InlineValues.cpp - values without memory ---------------------------===//

#include "passes/Select/InlineValues.h"
#include "dialects/Exec/Views.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace braid;

/// Dense constants with up to this many elements become selects on the index.
static constexpr int64_t kMaxInlinedElements = 64;

bool braid::isElementwise(Operation *op) {
  return isa<tg::ConvertOp>(op) || (op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() &&
                                    isa<RankedTensorType>(op->getResult(0).getType()));
}

bool braid::isExpression(Operation *op) {
  return isElementwise(op) || isa<arith::ConstantOp, tg::IotaOp, tg::BroadcastOp>(op);
}

/// Whether a value is computed from constants and indices alone, by arithmetic that costs less than a read of memory.
static bool isCheap(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && (elements.isSplat() || elements.getNumElements() <= kMaxInlinedElements);
  }
  if (isa<tg::IotaOp>(op))
    return true;
  bool isArithmetic = isExpression(op) && isa<tg::TGDialect, arith::ArithDialect>(op->getDialect());
  return isArithmetic && llvm::all_of(op->getOperands(), isCheap);
}

/// Reading the narrow tensor halves the bytes. The wide tensor need not be kept for a later reader.
Value braid::wideningSource(Value value) {
  Value source = conversionSource(value);
  bool isWidened = source && getElementTypeOrSelf(source).isBF16() && isa<FloatType>(getElementTypeOrSelf(value));
  return isWidened ? source : Value();
}

bool braid::isInlined(Value value) {
  return value.getDefiningOp<tg::BroadcastOp>() || wideningSource(value) || isCheap(value);
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

static Value emitConvert(OpBuilder &builder, Location loc, Value value, Type from, Type to) {
  if (from == to)
    return value;
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return fromBits < toBits ? builder.create<arith::ExtFOp>(loc, to, value).getResult()
                             : builder.create<arith::TruncFOp>(loc, to, value).getResult();
  if (isa<FloatType>(to))
    return fromBits == 1 ? builder.create<arith::UIToFPOp>(loc, to, value).getResult()
                         : builder.create<arith::SIToFPOp>(loc, to, value).getResult();
  // A conversion to i1 is a test, not a truncation.
  if (toBits == 1) {
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(from));
    if (isa<FloatType>(from))
      return builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, value, zero);
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (isa<FloatType>(from))
    return builder.create<arith::FPToSIOp>(loc, to, value);
  if (fromBits == 1)
    return builder.create<arith::ExtUIOp>(loc, to, value);
  return fromBits < toBits ? builder.create<arith::ExtSIOp>(loc, to, value).getResult()
                           : builder.create<arith::TruncIOp>(loc, to, value).getResult();
}

Value braid::emitScalar(OpBuilder &builder, Location loc, Operation *op, ValueRange operands) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<tg::ConvertOp>(op))
    return emitConvert(builder, loc, operands[0], operands[0].getType(), element);
  return builder.create(loc, op->getName().getIdentifier(), operands, element, op->getAttrs())->getResult(0);
}

static Value emitIndex(OpBuilder &builder, Location loc, int64_t loop) {
  if (loop < 0)
    return builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(0));
  Value index = builder.create<linalg::IndexOp>(loc, loop);
  return builder.create<arith::IndexCastOp>(loc, builder.getI32Type(), index);
}

/// Writes a small table as selects on the row-major index.
static Value emitTable(OpBuilder &builder, Location loc, DenseElementsAttr table, ArrayRef<int64_t> coordinates) {
  Value linear;
  SmallVector<int64_t> strides = exec::rowMajor(table.getType().getShape());
  for (auto [loop, stride] : llvm::zip(coordinates, strides)) {
    Value factor = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(stride));
    Value term = builder.create<arith::MulIOp>(loc, emitIndex(builder, loc, loop), factor);
    linear = linear ? builder.create<arith::AddIOp>(loc, linear, term).getResult() : term;
  }
  Value result;
  for (auto [index, element] : llvm::enumerate(table.getValues<Attribute>())) {
    Value value = builder.create<arith::ConstantOp>(loc, cast<TypedAttr>(element));
    if (result) {
      Value at = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(index));
      Value isSelected = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, linear, at);
      value = builder.create<arith::SelectOp>(loc, isSelected, value, result);
    }
    result = value;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Returns the coordinates of a broadcast's operand, given those of its result.
static SmallVector<int64_t> sourceCoordinates(tg::BroadcastOp broadcast, ArrayRef<int64_t> coordinates) {
  SmallVector<int64_t> result;
  for (auto [dim, size] : llvm::zip(broadcast.getDims(), broadcast.getInput().getType().getShape()))
    result.push_back(size == broadcast.getType().getDimSize(dim) ? coordinates[dim] : -1);
  return result;
}

void InlineExpression::collect(KernelBuilder &kernel, Value value, const Coordinates &coordinates, StringRef name) {
  if (auto broadcast = value.getDefiningOp<tg::BroadcastOp>())
    return collect(kernel, broadcast.getInput(), sourceCoordinates(broadcast, coordinates),
                   name.empty() ? tg::valueNameOf(broadcast.getLoc()) : name);
  if (isCheap(value)) // reads no tensor
    return;
  if (Value source = wideningSource(value))
    return collect(kernel, source, coordinates, name.empty() ? tg::valueNameOf(value.getLoc()) : name);
  if (llvm::is_contained(sources, std::make_pair(value, coordinates)))
    return;
  sources.push_back({value, coordinates});
  // Dims at index 0 have size 1 and are dropped, because maps are projected permutations.
  auto type = cast<RankedTensorType>(value.getType());
  Coordinates dims;
  SmallVector<int64_t> shape;
  for (auto [loop, size] : llvm::zip(coordinates, type.getShape())) {
    if (loop < 0)
      continue;
    dims.push_back(loop);
    shape.push_back(size);
  }
  std::string called = name.empty() ? tg::nameOfOperand(value) : name.str();
  if (shape.size() != coordinates.size())
    value = outer.createOrFold<exec::ViewOp>(loc, RankedTensorType::get(shape, type.getElementType()), value, 0,
                                             exec::rowMajor(shape));
  reads.push_back({kernel.operand(value, called), dims});
}

Value InlineExpression::emit(OpBuilder &builder, ValueRange scalars, Value value, const Coordinates &coordinates) {
  for (auto [source, scalar] : llvm::zip(sources, scalars))
    if (source.first == value && source.second == coordinates)
      return scalar;
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast<tg::BroadcastOp>(op))
    return emit(builder, scalars, broadcast.getInput(), sourceCoordinates(broadcast, coordinates));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    if (elements.isSplat())
      return builder.create<arith::ConstantOp>(loc, elements.getSplatValue<TypedAttr>());
    return emitTable(builder, loc, elements, coordinates);
  }
  if (auto iota = dyn_cast<tg::IotaOp>(op)) {
    Type element = cast<RankedTensorType>(iota.getType()).getElementType();
    return emitConvert(builder, loc, emitIndex(builder, loc, coordinates[iota.getDim()]), builder.getI32Type(),
                       element);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(emit(builder, scalars, operand, coordinates));
  return emitScalar(builder, loc, op, operands);
}

//===----------------------------------------------------------------------===//
// Kernels of one value
//===----------------------------------------------------------------------===//

SmallVector<int64_t> braid::allDims(RankedTensorType type) {
  return llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
}

SmallVector<int64_t> braid::spaceOf(RankedTensorType type) {
  return type.getRank() ? SmallVector<int64_t>(type.getShape()) : SmallVector<int64_t>{1};
}

Value braid::copyToMemory(OpBuilder &builder, Location loc, StringRef name, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dims = allDims(type);
  KernelBuilder kernel(builder, loc, name, spaceOf(type));
  InlineExpression expression(builder, loc);
  expression.collect(kernel, value, dims);
  Value result =
      kernel.parallel(dims, expression.getReads(), type.getElementType(),
                      [&](OpBuilder &body, ValueRange scalars) { return expression.emit(body, scalars, value, dims); });
  return kernel.finish(result).getResult(0);
}
