//===- SourceOp.cpp - operands and attributes of an op --------------------===//

#include "lib/Import/StableHLO/TranslatorState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Upper limits of a tensor's dims, and of its elements.
static constexpr int64_t kMaxRank = 16;
static constexpr int64_t kMaxElements = int64_t(1) << 48;
/// Upper limit of a dim that is reversed, which becomes slices and a concat.
static constexpr int64_t kMaxReversed = 64;

RankedTensorType braid::stablehlo::typeHere(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() || tensor.getRank() > kMaxRank)
    return {};
  int64_t elements = 1;
  for (int64_t size : tensor.getShape()) {
    if (size > 0 && elements > kMaxElements / size)
      return {};
    elements *= std::max<int64_t>(size, 1);
  }
  Type element = tensor.getElementType();
  if (element.isSignlessInteger(64) || element.isUnsignedInteger(32) || element.isUnsignedInteger(64))
    element = IntegerType::get(type.getContext(), 32);
  bool isKnown = element.isF32() || element.isF64() || element.isBF16() || element.isSignlessInteger(32) ||
                 element.isSignlessInteger(1);
  return isKnown ? tg::withElement(tensor, element) : RankedTensorType();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

SmallVector<NamedAttribute> braid::stablehlo::attributesOf(Operation *op) {
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  if (auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    append_range(attributes, properties);
  return attributes;
}

/// Whether an attribute has the kind that a row states.
static bool isOfKind(Attribute attribute, StringRef kind) {
  if (kind == "L")
    return integersOf(attribute).has_value();
  if (kind == "I")
    return isa<IntegerAttr>(attribute) && cast<IntegerAttr>(attribute).getValue().getBitWidth() <= 64;
  if (kind == "E")
    return isa<OpaqueAttr>(attribute);
  return kind == "A";
}

bool braid::stablehlo::isUnsigned(Type type) { return getElementTypeOrSelf(type).isUnsignedInteger(); }

LogicalResult braid::stablehlo::checkOp(Operation *op, const OpRow &row, Location loc) {
  if (!row.keepsBits && (any_of(op->getOperandTypes(), isUnsigned) || any_of(op->getResultTypes(), isUnsigned)))
    return emitError(loc) << row.name << ": of unsigned integers is not supported; they are supported as bits, as in "
                          << "keys of random numbers";
  int operands = op->getNumOperands();
  if (row.operands < 0 ? operands < -row.operands : operands != row.operands)
    return emitError(loc) << row.name << ": has " << operands << " operands";
  if (op->getNumResults() < 1)
    return emitError(loc) << row.name << ": has no result";
  llvm::StringMap<Attribute> given;
  for (NamedAttribute attribute : attributesOf(op))
    given[attribute.getName()] = attribute.getValue();
  SmallVector<StringRef> stated, ignored;
  row.attributes.split(stated, ' ', -1, /*KeepEmpty=*/false);
  row.ignored.split(ignored, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef statement : stated) {
    auto [name, kind] = statement.split(':');
    bool isOptional = kind.consume_back("?");
    auto found = given.find(name);
    if (found == given.end() ? !isOptional : !isOfKind(found->second, kind))
      return emitError(loc) << row.name << ": attribute '" << name << "' is "
                            << (found == given.end() ? "missing" : "of another kind than the op has");
    if (found != given.end())
      given.erase(found);
  }
  for (NamedAttribute attribute : attributesOf(op)) {
    StringRef name = attribute.getName();
    if (given.contains(name) && !is_contained(ignored, name) && !name.contains('.'))
      return emitError(loc) << row.name << ": attribute '" << name << "' is not supported";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

Value SourceOp::tensorOf(Value source) { return translator.valueOf(source, loc); }
Value SourceOp::tensor(unsigned number) { return tensorOf(op->getOperand(number)); }
const MaybeKnown &SourceOp::knownOf(Value source) const {
  static const MaybeKnown kNothing;
  auto found = translator.operands.find(source);
  return found == translator.operands.end() ? kNothing : found->second.known;
}
const MaybeKnown &SourceOp::known(unsigned number) { return knownOf(op->getOperand(number)); }
RankedTensorType SourceOp::operandType(unsigned number) const { return typeHere(op->getOperand(number).getType()); }
RankedTensorType SourceOp::resultType(unsigned number) const { return typeHere(op->getResult(number).getType()); }
Operation *SourceOp::definition(unsigned number, StringRef name) const {
  Operation *definition = op->getOperand(number).getDefiningOp();
  return definition && definition->getName().getStringRef() == name ? definition : nullptr;
}

Attribute SourceOp::attribute(StringRef name) const { return op->getAttr(name); }
Integers SourceOp::integers(StringRef name) const { return integersOf(attribute(name)).value_or(Integers()); }
int64_t SourceOp::integer(StringRef name, int64_t fallback) const {
  auto given = dyn_cast_or_null<IntegerAttr>(attribute(name));
  return given ? given.getValue().getSExtValue() : fallback;
}
StringRef SourceOp::word(StringRef name) const { return wordOf(attribute(name), name); }

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

bool SourceOp::isStep() const { return translator.isStep(); }

Value SourceOp::fail(const Twine &message) {
  emitError(loc) << op->getName().getStringRef() << ": " << message;
  return {};
}

void braid::stablehlo::requirePattern(Value table, int64_t elements) {
  std::string message =
      ("a table of " + Twine(elements) +
       " numbers that depend on no input is supported only as a mask "
       "or as the table of a rotation; at most " +
       Twine(kMaxConstantElements) + " become a constant: pass it as an argument, or compute it from jnp.arange")
          .str();
  table.getDefiningOp()->setAttr(kPartOfPattern, StringAttr::get(table.getContext(), message));
}

Value SourceOp::expand(Value a, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  RankedTensorType type = tg::typeOf(a);
  if (type.getShape() == shape)
    return a;
  bool addsOnes = type.getNumElements() == tg::withShape(type, shape).getNumElements();
  return addsOnes ? reshape(a, shape) : broadcast(a, tg::withShape(type, shape), dims);
}

Value SourceOp::transposed(Value a, ArrayRef<int64_t> permutation) {
  return is_sorted(permutation) ? a : transpose(a, permutation);
}

Value SourceOp::reversed(Value a, int64_t dim) {
  RankedTensorType type = tg::typeOf(a);
  if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) > kMaxReversed)
    return fail("only dims of at most " + Twine(kMaxReversed) + " elements are reversed");
  SmallVector<int64_t> order = tg::dimRange(0, type.getDimSize(dim));
  std::reverse(order.begin(), order.end());
  return make<tg::ReorderOp>(type, a, builder.getI64IntegerAttr(dim), builder.getDenseI64ArrayAttr(order));
}
