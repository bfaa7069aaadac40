//===- TypeSyntax.cpp - types of ops: parsing, printing, checking ---------===//

#include "dialects/TG/TypeSyntax.h"
#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/TG.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid::tg;

namespace {
struct WrittenType {
  SMLoc place;
  Type type;
};
using WrittenTypes = SmallVector<WrittenType>;
} // namespace

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses types separated by commas, with or without parentheses.
static ParseResult parseTypeList(OpAsmParser &parser, WrittenTypes &types) {
  auto parseOne = [&]() -> ParseResult {
    types.push_back({parser.getCurrentLocation(), {}});
    return parser.parseType(types.back().type);
  };
  if (failed(parser.parseOptionalLParen()))
    return parser.parseCommaSeparatedList(parseOne);
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  return failure(parser.parseCommaSeparatedList(parseOne) || parser.parseRParen());
}

static size_t countTypes(ArrayRef<TypeSlot> slots) {
  size_t count = 0;
  for (const TypeSlot &slot : slots)
    count += slot.count;
  return count;
}

static std::string namesOf(ArrayRef<TypeSlot> operands) {
  std::string names;
  for (const TypeSlot &operand : operands)
    if (operand.count)
      names += (names.empty() ? "" : ", ") + operand.name.str();
  return names;
}

/// Fails unless the written types are as many as the operands and results.
static ParseResult checkCounts(OpAsmParser &parser, SMLoc place, const TypeSlots &slots, ArrayRef<WrittenType> operands,
                               ArrayRef<WrittenType> results) {
  size_t expected = countTypes(slots.operands);
  if (operands.size() != expected)
    return parser.emitError(place) << "needs " << expected << (expected == 1 ? " type" : " types")
                                   << " before '->', one for each operand (" << namesOf(slots.operands) << "), found "
                                   << operands.size();
  bool isVariadic = llvm::any_of(slots.results, [](const TypeSlot &slot) { return slot.many; });
  size_t fixed = countTypes(slots.results);
  if (isVariadic ? results.size() < fixed : results.size() != fixed)
    return parser.emitError(place) << "needs " << fixed << (isVariadic ? " or more" : "")
                                   << (fixed == 1 && !isVariadic ? " type" : " types")
                                   << " behind '->', one for each result, found " << results.size();
  return success();
}

static std::string listWords(StringRef words) {
  SmallVector<StringRef> each;
  words.split(each, ' ');
  StringRef last = each.pop_back_val();
  return each.empty() ? last.str() : llvm::join(each, ", ") + " or " + last.str();
}

/// Starts an error about a type; `what` is "result" or the name of an operand.
static InFlightDiagnostic refuse(OpAsmParser &parser, StringRef what, const WrittenType &written) {
  return parser.emitError(written.place) << what << " has the type " << written.type;
}

/// Fails unless the type is a tensor of a supported shape.
static ParseResult checkShape(OpAsmParser &parser, StringRef what, const WrittenType &written) {
  if (written.type.isIntOrIndexOrFloat())
    return refuse(parser, what, written) << ", expected a tensor; a scalar is "
                                         << RankedTensorType::get({}, written.type);
  if (std::string problem = braid::problemOfShape(written.type); !problem.empty())
    return refuse(parser, what, written) << ", which " << problem;
  return success();
}

/// Fails if the written type is not valid for the operand.
static ParseResult checkOperand(OpAsmParser &parser, const TypeSlot &operand, const WrittenType &written) {
  std::string what = ("operand '" + operand.name + "'").str(), element;
  if (checkShape(parser, what, written))
    return failure();
  llvm::raw_string_ostream(element) << cast<RankedTensorType>(written.type).getElementType();
  SmallVector<StringRef> accepted;
  operand.elements.split(accepted, ' ');
  if (!llvm::is_contained(accepted, element))
    return refuse(parser, what, written) << ", expected a tensor of " << listWords(operand.elements)
                                         << "; tg.convert changes element types";
  return success();
}

/// Parses both lists. With `isOneType`, a single type is the type of all operands and results.
static ParseResult parseLists(OpAsmParser &parser, bool isOneType, const TypeSlots &slots, WrittenTypes &operands,
                              WrittenTypes &results) {
  SMLoc place = parser.getCurrentLocation();
  if (parseTypeList(parser, operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parseTypeList(parser, results);
  if (!isOneType)
    return parser.emitError(place, "expected '->' and the types of results, as in TYPE, TYPE -> TYPE");
  if (operands.size() != 1)
    return parser.emitError(place, "expected one type, which all operands and results share");
  WrittenType type = operands.front();
  operands.assign(countTypes(slots.operands), type);
  results.assign(countTypes(slots.results), type);
  return success();
}

ParseResult braid::tg::parseTypesInto(OpAsmParser &parser, bool isOneType, TypeSlots &slots) {
  SMLoc place = parser.getCurrentLocation();
  WrittenTypes operands, results;
  if (parseLists(parser, isOneType, slots, operands, results) || checkCounts(parser, place, slots, operands, results))
    return failure();
  Type first = results.empty() ? Type() : results.front().type;
  for (const WrittenType &written : llvm::concat<const WrittenType>(operands, results))
    if (isOneType && written.type != first)
      return parser.emitError(written.place)
             << "operands and results must have one type, found " << written.type << " and " << first;
  auto next = operands.begin();
  for (TypeSlot &slot : slots.operands)
    for (size_t i = 0; i < slot.count; ++i, ++next) {
      if (checkOperand(parser, slot, *next))
        return failure();
      slot.many ? slot.many->push_back(next->type) : void(*slot.one = next->type);
    }
  for (const WrittenType &written : results)
    if (checkShape(parser, "result", written))
      return failure();
  size_t variadic = results.size() - countTypes(slots.results);
  for (auto [slot, written] : llvm::zip(slots.results, results))
    if (slot.one)
      *slot.one = written.type;
  for (const WrittenType &written : ArrayRef(results).take_back(variadic))
    slots.results.back().many->push_back(written.type);
  return success();
}

//===----------------------------------------------------------------------===//
// Printing and checking
//===----------------------------------------------------------------------===//

/// Prints the types, in parentheses unless there is exactly one.
template <typename Stream> static void printTypeList(Stream &stream, TypeRange types) {
  bool isOne = types.size() == 1;
  stream << (isOne ? "" : "(");
  llvm::interleaveComma(types, stream);
  stream << (isOne ? "" : ")");
}

void braid::tg::printTypesOf(OpAsmPrinter &printer, Operation *op, bool isOneType) {
  if (isOneType) {
    printer << op->getResult(0).getType();
    return;
  }
  printTypeList(printer, op->getOperandTypes());
  printer << " -> ";
  printTypeList(printer, op->getResultTypes());
}

static std::string textOf(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printTypeList(stream, types);
  return text;
}

LogicalResult braid::tg::verifyResultTypes(Operation *op) {
  auto infers = cast<InferTypeOpInterface>(op);
  SmallVector<Type> expected;
  if (failed(infers.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                     op->getPropertiesStorage(), op->getRegions(), expected)))
    return failure();
  if (infers.isCompatibleReturnTypes(expected, op->getResultTypes()))
    return success();
  return op->emitOpError() << "makes " << textOf(expected) << " of " << textOf(op->getOperandTypes()) << ", found "
                           << textOf(op->getResultTypes()) << ": write \"-> " << textOf(expected) << "\"";
}
