//===- Mask.cpp - attention masks: which keys each query sees -------------===//

#include "dialects/TG/Attributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Parsing and printing
//===----------------------------------------------------------------------===//

/// Parses `word` and a number of at least `minimum`, if the word is there.
static ParseResult parseNumber(AsmParser &parser, StringRef word, int64_t &number, int64_t minimum) {
  if (failed(parser.parseOptionalKeyword(word)))
    return success();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseInteger(number))
    return failure();
  if (number < minimum)
    return parser.emitError(at) << "expected " << word << " of at least " << minimum << ", found " << number;
  return success();
}

/// Parses the options of a mask, which may be absent.
static ParseResult parseMask(AsmParser &parser, MaskAttr &mask) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t window = 0, offset = MaskAttr::kSameSequence;
  bool causal = succeeded(parser.parseOptionalKeyword("causal"));
  if (parseNumber(parser, "window", window, 1) || parseNumber(parser, "offset", offset, 0))
    return failure();
  mask = MaskAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), causal, window, offset);
  return success(mask != nullptr);
}

/// Returns the options of a mask as text, each after a space.
static std::string wordsOf(MaskAttr mask) {
  std::string words = mask.getCausal() ? " causal" : "";
  if (mask.hasWindow())
    words += " window " + std::to_string(mask.getWindow());
  if (mask.getOffset() != MaskAttr::kSameSequence)
    words += " offset " + std::to_string(mask.getOffset());
  return words;
}

Attribute MaskAttr::parse(AsmParser &parser, Type) {
  MaskAttr mask;
  if (parser.parseLess() || parseMask(parser, mask) || parser.parseGreater())
    return {};
  return mask;
}

void MaskAttr::print(AsmPrinter &printer) const { printer << "<" << StringRef(wordsOf(*this)).ltrim() << ">"; }

ParseResult braid::tg::parseScores(AsmParser &parser, FloatAttr &scale, MaskAttr &mask, FloatAttr &softcap) {
  Type f64 = parser.getBuilder().getF64Type();
  if (parser.parseKeyword("scale") || parser.parseAttribute(scale, f64) || parseMask(parser, mask))
    return failure();
  if (failed(parser.parseOptionalKeyword("softcap")))
    return success();
  return parser.parseAttribute(softcap, f64);
}

void braid::tg::printScores(AsmPrinter &printer, Operation *, FloatAttr scale, MaskAttr mask, FloatAttr softcap) {
  printer << "scale ";
  printer.printAttributeWithoutType(scale);
  printer << wordsOf(mask);
  if (softcap) {
    printer << " softcap ";
    printer.printAttributeWithoutType(softcap);
  }
}

LogicalResult MaskAttr::verify(function_ref<InFlightDiagnostic()> emitError, bool causal, int64_t window,
                               int64_t offset) {
  if (window < 0 || offset < kSameSequence)
    return emitError() << "the window " << window << " and the offset " << offset << " of a mask must not be negative";
  if (!causal && (window > 0 || offset != kSameSequence))
    return emitError() << "only a causal mask has a window or an offset; write `causal` before it";
  return success();
}

//===----------------------------------------------------------------------===//
// Keys and pairs
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> MaskAttr::keysOf(int64_t query, int64_t keys) const {
  if (!getCausal())
    return {0, keys};
  int64_t last = query + getFirst();
  return {hasWindow() ? std::max<int64_t>(last + 1 - getWindow(), 0) : 0, std::min(last + 1, keys)};
}

int64_t MaskAttr::pairsOf(int64_t queries, int64_t keys) const {
  if (!getCausal())
    return queries * keys;
  int64_t visible = hasWindow() ? getWindow() : keys + queries;
  // Counts the pairs of the first `positions` queries: a triangle, then a window for each query.
  auto upTo = [&](int64_t positions) {
    int64_t inside = std::min(positions, visible);
    return inside * inside / 2 + (positions - inside) * visible;
  };
  return upTo(getFirst() + queries) - upTo(getFirst());
}

int64_t MaskAttr::meanPairsOf(int64_t queries, int64_t keys) const {
  if (!getCausal())
    return queries * keys;
  return hasWindow() && getWindow() < keys ? queries * getWindow() : queries * keys / 2;
}

std::string MaskAttr::problemOf(int64_t queries, int64_t keys, bool atPositions) const {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (!getCausal())
    return problem;
  if (atPositions) {
    if (getOffset() != kSameSequence)
      os << "takes positions from operands, but its mask also has the offset " << getOffset();
  } else if (getOffset() == kSameSequence && queries != keys)
    os << "is causal, but the query has " << queries << " positions and the key " << keys
       << "; give the position of the first query as an offset";
  else if (getOffset() > keys - queries && getOffset() != kSameSequence)
    os << "has " << queries << " queries from offset " << getOffset() << " on, but the key has " << keys
       << " positions";
  return problem;
}

std::string MaskAttr::problemOf(RankedTensorType documents, int64_t batch, int64_t queries, int64_t keys,
                                bool atPositions) const {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (atPositions) {
    int64_t minimum = std::max(queries, keys);
    if (documents.getRank() != 2 || documents.getDimSize(0) != batch || documents.getDimSize(1) < minimum ||
        !documents.getElementType().isInteger(32))
      os << "has documents of type " << documents << ", but needs an i32 for each position, batch " << batch << " x "
         << minimum << " at least";
  } else if (auto expected = RankedTensorType::get({batch, keys}, IntegerType::get(getContext(), 32));
             documents != expected)
    os << "has documents of type " << documents << ", but needs a number for each key, " << expected;
  else if (!getCausal() && queries != keys)
    os << "has documents, but " << queries << " queries and " << keys
       << " keys; only a causal mask gives positions to queries, so make the mask causal";
  return problem;
}
