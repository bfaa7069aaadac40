//===- Contraction.cpp - an einsum of two tensors -------------------------===//

#include "dialects/TG/Attributes.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
struct Places {
  StringRef lhs, rhs, result;
};
} // namespace

static std::optional<Places> splitSpec(StringRef spec) {
  auto [operands, result] = spec.split("->");
  auto [lhs, rhs] = operands.split(',');
  if (!spec.contains("->") || !operands.contains(','))
    return {};
  return Places{lhs, rhs, result};
}

ContractionAttr ContractionAttr::get(MLIRContext *context, const Twine &spec) {
  SmallString<32> text;
  std::optional<Places> places = splitSpec(spec.toStringRef(text));
  assert(places && "not an einsum of two operands");
  return get(context, places->lhs, places->rhs, places->result);
}

ParseResult braid::tg::parseContraction(AsmParser &parser, ContractionAttr &contraction) {
  SMLoc loc = parser.getCurrentLocation();
  std::string spec;
  if (parser.parseString(&spec))
    return failure();
  std::optional<Places> places = splitSpec(spec);
  if (!places)
    return parser.emitError(loc) << "\"" << spec << "\" is not of the form \"ab,bc->ac\"";
  contraction = ContractionAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), places->lhs,
                                            places->rhs, places->result);
  return success(contraction != nullptr);
}

void braid::tg::printContraction(AsmPrinter &printer, ContractionAttr contraction) {
  printer << '"' << contraction.getSpec() << '"';
}

Attribute ContractionAttr::parse(AsmParser &parser, Type) {
  ContractionAttr contraction;
  if (parser.parseLess() || parseContraction(parser, contraction) || parser.parseGreater())
    return {};
  return contraction;
}

void ContractionAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printContraction(printer, *this);
  printer << ">";
}

LogicalResult ContractionAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef lhs, StringRef rhs,
                                      StringRef result) {
  std::string spec = (lhs + "," + rhs + "->" + result).str();
  for (StringRef letters : {result, lhs, rhs})
    for (auto [index, letter] : llvm::enumerate(letters)) {
      if (!llvm::isAlpha(letter))
        return emitError() << "\"" << spec << "\" has '" << StringRef(&letter, 1) << "', which is not a letter";
      if (letters.find(letter, index + 1) != StringRef::npos)
        return emitError() << "'" << letters << "' of \"" << spec << "\" names '" << StringRef(&letter, 1) << "' twice";
      bool isOfOperand = lhs.contains(letter) || rhs.contains(letter);
      if (!isOfOperand)
        return emitError() << "result letter '" << StringRef(&letter, 1) << "' of \"" << spec
                           << "\" must name one dim of an operand, once";
      if (lhs.contains(letter) + rhs.contains(letter) + result.contains(letter) == 1)
        return emitError() << "'" << StringRef(&letter, 1) << "' of \"" << spec
                           << "\" appears in one place only; reduce that dim first";
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Groups of letters
//===----------------------------------------------------------------------===//

std::string ContractionAttr::lettersIn(StringRef letters, bool inLhs, bool inRhs, bool inResult) const {
  std::string found;
  for (char letter : letters)
    if (getLhs().contains(letter) == inLhs && getRhs().contains(letter) == inRhs &&
        getResult().contains(letter) == inResult)
      found += letter;
  return found;
}

SmallVector<int64_t> ContractionAttr::getContractedDims(unsigned operand) const {
  SmallVector<int64_t> dims;
  for (auto [dim, letter] : llvm::enumerate(getOperand(operand)))
    if (isContracted(letter))
      dims.push_back(dim);
  return dims;
}

int64_t ContractionAttr::getContractedSize(ArrayRef<int64_t> lhsShape) const {
  int64_t size = 1;
  for (int64_t dim : getContractedDims(0))
    size *= lhsShape[dim];
  return size;
}

llvm::Expected<SmallVector<int64_t>> ContractionAttr::getResultShape(RankedTensorType lhs, RankedTensorType rhs) const {
  std::string why;
  llvm::raw_string_ostream os(why);
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [letters, type] : {std::pair(getLhs(), lhs), std::pair(getRhs(), rhs)}) {
    if (static_cast<int64_t>(letters.size()) != type.getRank()) {
      os << "'" << letters << "' of \"" << getSpec() << "\" names " << letters.size() << " dims but its operand is '"
         << type << "'";
      return llvm::createStringError(why);
    }
    for (auto [letter, size] : llvm::zip(letters, type.getShape()))
      if (int64_t known = sizes.try_emplace(letter, size).first->second; known != size) {
        os << "'" << letter << "' of \"" << getSpec() << "\" is " << known << " in the left operand but " << size
           << " in '" << type << "'";
        return llvm::createStringError(why);
      }
  }
  return llvm::map_to_vector(getResult(), [&](char letter) { return sizes.lookup(letter); });
}
