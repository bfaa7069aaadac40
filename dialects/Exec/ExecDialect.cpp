//===- ExecDialect.cpp - registration and the reference type --------------===//

#include "dialects/Exec/Assignment.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/LanePatterns.h"
#include "dialects/Exec/MatmulMarks.h"
#include "dialects/Exec/ValueReads.h"
#include "dialects/Interfaces/TensorShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// Parses the types of a launch, which may have no operands, whereas a parsed list of types cannot be empty.
static ParseResult parseLaunchTypes(OpAsmParser &parser, SmallVectorImpl<Type> &ins, SmallVectorImpl<Type> &outs) {
  if (failed(parser.parseOptionalArrow()) && (parser.parseTypeList(ins) || parser.parseArrow()))
    return failure();
  return parser.parseTypeList(outs);
}

static void printLaunchTypes(OpAsmPrinter &printer, Operation *, TypeRange ins, TypeRange outs) {
  if (!ins.empty())
    printer << ins << " ";
  printer << "-> " << outs;
}

#include "dialects/Exec/ExecDialect.cpp.inc"
#include "dialects/Exec/ExecEnums.cpp.inc"
#include "dialects/Exec/ExecInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/ExecAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Exec/ExecAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Exec/ExecTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/ExecOps.cpp.inc"
      >();
}

LogicalResult MachineAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, DenseF64ArrayAttr compute,
                                  DenseF64ArrayAttr link, DictionaryAttr links) {
  auto check = [&](StringRef name, Attribute attribute, bool isLink) -> LogicalResult {
    auto rates = llvm::dyn_cast<DenseF64ArrayAttr>(attribute);
    auto isRate = [](double rate) { return std::isfinite(rate) && rate > 0; };
    if (rates && rates.size() == 2 && isRate(rates[1]) && (isRate(rates[0]) || (isLink && rates[0] == 0)))
      return success();
    return emitError() << name << " must be " << (isLink ? "[latency in us, GB/s]" : "[GFLOP/s, GB/s]") << ", found "
                       << attribute;
  };
  SmallVector<NamedAttribute> named(links ? links.getValue() : ArrayRef<NamedAttribute>());
  bool isValid = (!compute || succeeded(check("compute", compute, false))) &&
                 (!link || succeeded(check("link", link, true))) && llvm::all_of(named, [&](NamedAttribute entry) {
                   return succeeded(check(entry.getName(), entry.getValue(), true));
                 });
  return success(isValid);
}

/// Fails unless the attribute lists distinct outs of a kernel that are not operands as well.
static LogicalResult verifyStreamed(Operation *op, Attribute value) {
  auto kernel = dyn_cast<KernelDefOp>(op);
  auto outs = dyn_cast<DenseI64ArrayAttr>(value);
  if (!kernel || !outs)
    return op->emitOpError() << "'" << kStreamed << "' belongs on an exec.kernel_def, as array<i64>";
  ArrayRef<int64_t> ties = kernel.getTies();
  int64_t last = -1;
  for (int64_t out : outs.asArrayRef()) {
    if (out <= last || out >= static_cast<int64_t>(ties.size()))
      return op->emitOpError() << "'" << kStreamed << "' has " << out << ", but must list numbers of the "
                               << ties.size() << " outs in ascending order";
    if (ties[out] >= 0)
      return op->emitOpError() << "'" << kStreamed << "' has out " << out << ", which is operand " << ties[out]
                               << ", too, and therefore in the caches; leave it out";
    last = out;
  }
  return success();
}

/// Verifies a matmul that is split into two calls. Each call computes a part of the result, so the matmul has
/// no bias, epilogue, addend or second result.
static LogicalResult verifySplitMatmul(Operation *op, NamedAttribute attribute) {
  auto matmul = dyn_cast<MatmulOp>(op);
  auto count = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!matmul || !count || !count.getType().isInteger(64) || count.getInt() < 1)
    return op->emitOpError() << "'" << attribute.getName().getValue()
                             << "' is the number of an exec.matmul's rows or columns, i64 and at least 1, found "
                             << attribute.getValue();
  if (op->hasAttr(kRowsApart) && op->hasAttr(kColumnsApart))
    return op->emitOpError() << "has '" << kRowsApart << "' and '" << kColumnsApart
                             << "'; a matmul is split by rows or by columns: drop one of them";
  if (!matmul.isPlain())
    return op->emitOpError()
           << "has '" << attribute.getName().getValue()
           << "', but a bias, an epilogue, an addend or a second result, which a matmul in two calls cannot have";
  return success();
}

LogicalResult ExecDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kTarget) {
    if (isa<ModuleOp>(op) && isa<TargetAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'" << kTarget << "' belongs on a module, as #exec.target<\"cpu\">";
  }
  if (attribute.getName() == kMachine) {
    if (isa<ModuleOp>(op) && isa<MachineAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'" << kMachine << "' belongs on a module, as #exec.machine<link = [20.0, 1.25]>";
  }
  if (attribute.getName() == kAssignment)
    return verifyAssignment(op, attribute.getValue());
  if (attribute.getName() == kReads)
    return verifyReads(op, attribute.getValue());
  if (attribute.getName() == kDims && isa<linalg::GenericOp>(op) && isa<DenseI64ArrayAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kStreamed)
    return verifyStreamed(op, attribute.getValue());
  if (attribute.getName() == kPanels) {
    if (isa<MatmulOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'" << kPanels << "' is a unit attribute on an exec.matmul, found "
                             << attribute.getValue();
  }
  if (attribute.getName() == kRowsApart || attribute.getName() == kColumnsApart)
    return verifySplitMatmul(op, attribute);
  bool isMark = attribute.getName() == kOnline || attribute.getName() == kPicked;
  if (isMark && isa<linalg::GenericOp>(op) && isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "'" << attribute.getName() << "' belongs on a linalg.generic of a kernel, as "
                           << (isMark ? "a unit attribute" : "array<i64>");
}

LogicalResult ExecDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kHost) {
    if (isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'" << kHost << "' of argument #" << argument << " is a unit attribute, found "
                             << attribute.getValue();
  }
  if (attribute.getName() == kSlots) {
    if (isa<FlatSymbolRefAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "'" << kSlots << "' of argument #" << argument << " is the symbol of slots, found "
                             << attribute.getValue();
  }
  if (attribute.getName() != kPack)
    return op->emitOpError() << "argument #" << argument << " has '" << attribute.getName()
                             << "', which the exec dialect does not know";
  if (!isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "'" << kPack << "' of argument #" << argument << " is the name of a pack, found "
                             << attribute.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// RefType
//===----------------------------------------------------------------------===//

Type RefType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma())
    return {};
  auto parseStride = [&] { return parser.parseInteger(strides.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride) || parser.parseGreater())
    return {};
  return parser.getChecked<RefType>(loc, parser.getContext(), shape, element, strides);
}

void RefType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    printer << size << 'x';
  printer << getElementType() << ", [";
  llvm::interleaveComma(getStrides(), printer);
  printer << "]>";
}

LogicalResult RefType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                              ArrayRef<int64_t> strides) {
  if (shape.size() != strides.size())
    return emitError() << "reference has " << shape.size() << " dims but " << strides.size() << " strides";
  if (llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return emitError() << "reference has a negative stride";
  if (!element.isIntOrFloat())
    return emitError() << "reference to elements of type " << element;
  if (std::string problem = problemOfShape(RankedTensorType::get(shape, element)); !problem.empty())
    return emitError() << "reference to a tensor that " << problem;
  int64_t span = 1; // number of elements up to the last one
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    int64_t reach;
    if (llvm::MulOverflow(size - 1, stride, reach) || reach > kMaxElements || (span += reach) > kMaxElements)
      return emitError() << "reference spans more than 2^53 elements";
  }
  return success();
}

RefType RefType::contiguous(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * type.getDimSize(dim + 1);
  return RefType::get(type.getContext(), type.getShape(), type.getElementType(), strides);
}

RefType RefType::strided(RankedTensorType type, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> canonical(strides);
  for (int64_t dim = type.getRank() - 1, inner = 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) == 1)
      canonical[dim] = inner;
    inner = canonical[dim] * type.getDimSize(dim);
  }
  return RefType::get(type.getContext(), type.getShape(), type.getElementType(), canonical);
}

RankedTensorType RefType::getTensorType() const { return RankedTensorType::get(getShape(), getElementType()); }

int64_t RefType::getSpanBytes() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(getShape(), getStrides()))
    last += (size - 1) * stride;
  return (last + 1) * elementBytes(getElementType());
}

bool RefType::isContiguous() const {
  int64_t expected = 1;
  for (int64_t dim = getShape().size() - 1; dim >= 0; --dim) {
    if (getShape()[dim] != 1 && getStrides()[dim] != expected)
      return false;
    expected *= getShape()[dim];
  }
  return true;
}
