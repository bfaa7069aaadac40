//===- Attributes.h - attributes of the graph dialect -----------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_ATTRIBUTES_H
#define BRAID_DIALECTS_TG_ATTRIBUTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/Error.h"

#include "dialects/TG/TGDialect.h.inc"
#include "dialects/TG/TGEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/TG/TGAttrs.h.inc"

namespace braid::tg {
/// Parses the einsum of a contraction: `"bsd,df->bsf"`.
mlir::ParseResult parseContraction(mlir::AsmParser &parser, ContractionAttr &contraction);
void printContraction(mlir::AsmPrinter &printer, ContractionAttr contraction);
inline void printContraction(mlir::AsmPrinter &printer, mlir::Operation *, ContractionAttr contraction) {
  printContraction(printer, contraction);
}

/// Parses the score options of attention: `scale 0.5 causal window 4 softcap 30.0`. All but the scale are optional.
mlir::ParseResult parseScores(mlir::AsmParser &parser, mlir::FloatAttr &scale, MaskAttr &mask,
                              mlir::FloatAttr &softcap);
void printScores(mlir::AsmPrinter &printer, mlir::Operation *, mlir::FloatAttr scale, MaskAttr mask,
                 mlir::FloatAttr softcap);

/// Parses an optional RoPE scaling: `linear 8.0`.
mlir::OptionalParseResult parseRopeScaling(mlir::AsmParser &parser, RopeScalingAttr &scaling);
void printRopeScaling(mlir::AsmPrinter &printer, mlir::Operation *, RopeScalingAttr scaling);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_ATTRIBUTES_H
