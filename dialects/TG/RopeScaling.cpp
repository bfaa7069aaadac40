//===- RopeScaling.cpp - scaling of rotary embeddings to longer sequences -===//

#include "dialects/TG/Attributes.h"

using namespace mlir;
using namespace braid::tg;

/// Parses a word and the number after it.
static ParseResult parseNumber(AsmParser &parser, StringRef word, double &number) {
  return failure(parser.parseKeyword(word) || parser.parseFloat(number));
}

/// Parses the parameters after the keyword of the kind.
static ParseResult parseNumbers(AsmParser &parser, SMLoc loc, bool isLinear, RopeScalingAttr &scaling) {
  double factor = 1, low = 0, high = 0;
  int64_t positions = 0;
  if (parser.parseFloat(factor))
    return failure();
  if (!isLinear) {
    if (parseNumber(parser, "low", low) || parseNumber(parser, "high", high) || parser.parseKeyword("positions") ||
        parser.parseInteger(positions))
      return failure();
    if (positions < 1)
      return parser.emitError(loc) << "llama3 scaling needs positions of at least 1, found " << positions;
  }
  scaling = RopeScalingAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), APFloat(factor),
                                        APFloat(low), APFloat(high), positions);
  return success(scaling != nullptr);
}

OptionalParseResult braid::tg::parseRopeScaling(AsmParser &parser, RopeScalingAttr &scaling) {
  SMLoc loc = parser.getCurrentLocation();
  bool isLinear = succeeded(parser.parseOptionalKeyword("linear"));
  if (!isLinear && failed(parser.parseOptionalKeyword("llama3")))
    return std::nullopt;
  return parseNumbers(parser, loc, isLinear, scaling);
}

static void printWords(AsmPrinter &printer, RopeScalingAttr scaling) {
  printer << (scaling.isLinear() ? "linear " : "llama3 ");
  printer.printFloat(scaling.getFactor());
  if (scaling.isLinear())
    return;
  printer << " low ";
  printer.printFloat(scaling.getLow());
  printer << " high ";
  printer.printFloat(scaling.getHigh());
  printer << " positions " << scaling.getPositions();
}

void braid::tg::printRopeScaling(AsmPrinter &printer, Operation *, RopeScalingAttr scaling) {
  printWords(printer, scaling);
}

Attribute RopeScalingAttr::parse(AsmParser &parser, Type) {
  RopeScalingAttr scaling;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  OptionalParseResult words = parseRopeScaling(parser, scaling);
  if (!words.has_value())
    parser.emitError(loc) << "expected linear or llama3";
  return words.has_value() && succeeded(*words) && succeeded(parser.parseGreater()) ? scaling : Attribute();
}

void RopeScalingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printWords(printer, *this);
  printer << '>';
}

LogicalResult RopeScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat factor, APFloat low,
                                      APFloat high, int64_t positions) {
  if (!factor.isFinite() || factor < APFloat(1.0))
    return emitError() << "the factor of a rope scaling must be at least 1, found " << factor.convertToDouble();
  if (positions < 0)
    return emitError() << "the positions of a rope scaling must not be negative, found " << positions;
  if (positions > 0 && !(low.isFinite() && high.isFinite() && APFloat(0.0) < low && low < high))
    return emitError() << "llama3 scaling needs 0 < low < high, found low " << low.convertToDouble() << " and high "
                       << high.convertToDouble();
  return success();
}
