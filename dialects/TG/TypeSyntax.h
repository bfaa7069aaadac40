//===- TypeSyntax.h - how ops of tg write types -----------------*- C++ -*-===//
//
// Every op ends with `: operand types -> result types`. Parentheses around a list are optional; the printer writes
// them around two or more types. An op whose operands and results have one type writes that type alone. The formats of
// ops call parseTypes and printTypes (TG_Types in TGDialect.td); TGDialect.cpp includes this file for them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_TYPESYNTAX_H
#define BRAID_DIALECTS_TG_TYPESYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace braid::tg {

/// Types of one operand or result: `many` if it is variadic, else `one`.
struct TypeSlot {
  llvm::StringRef name;     // name of the operand
  llvm::StringRef elements; // element types of the operand, separated by spaces
  size_t count;             // number of types written for the operand
  mlir::Type *one;
  llvm::SmallVectorImpl<mlir::Type> *many;
};

struct TypeSlots {
  llvm::SmallVector<TypeSlot> operands, results;
};

inline size_t countOf(const mlir::OpAsmParser::UnresolvedOperand &) { return 1; }
inline size_t countOf(const std::optional<mlir::OpAsmParser::UnresolvedOperand> &operand) {
  return operand.has_value();
}
inline size_t countOf(llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands) { return operands.size(); }

inline TypeSlot slotOf(mlir::Type &type) { return {"", "", 1, &type, nullptr}; }
inline TypeSlot slotOf(llvm::SmallVectorImpl<mlir::Type> &types) { return {"", "", 0, nullptr, &types}; }

/// Adds a slot for each operand's `name, elements, operand, types`, and then slots for the types of results.
inline void addSlots(TypeSlots &) {}
template <typename First, typename... Rest> void addSlots(TypeSlots &slots, First &first, Rest &...rest) {
  if constexpr (std::is_convertible_v<First &, llvm::StringRef>) {
    auto addOperand = [&](auto &elements, auto &operand, auto &types, auto &...others) {
      TypeSlot slot = slotOf(types);
      slot.name = first, slot.elements = elements, slot.count = countOf(operand);
      slots.operands.push_back(slot);
      addSlots(slots, others...);
    };
    addOperand(rest...);
  } else {
    slots.results.push_back(slotOf(first));
    addSlots(slots, rest...);
  }
}

mlir::ParseResult parseTypesInto(mlir::OpAsmParser &parser, bool isOneType, TypeSlots &slots);
void printTypesOf(mlir::OpAsmPrinter &printer, mlir::Operation *op, bool isOneType);

template <typename... Parts> mlir::ParseResult parseTypes(mlir::OpAsmParser &parser, bool isOneType, Parts &&...parts) {
  TypeSlots slots;
  addSlots(slots, parts...);
  return parseTypesInto(parser, isOneType, slots);
}

template <typename... Parts>
void printTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, bool isOneType, Parts &&...) {
  printTypesOf(printer, op, isOneType);
}

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TYPESYNTAX_H
