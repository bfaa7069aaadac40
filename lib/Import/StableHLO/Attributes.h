//===- Attributes.h - attributes of StableHLO, from their text --*- C++ -*-===//
//
// MLIR keeps attributes of dialects that it does not know as text. StableHLO has two kinds:
//
//   #stablehlo<comparison_direction LT>                          a word of an enumeration
//   #stablehlo.dot<lhs_contracting_dimensions = [2], ...>        fields, which are lists of integers or integers
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_ATTRIBUTES_H
#define BRAID_LIB_IMPORT_STABLEHLO_ATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <utility>

namespace braid::stablehlo {

using Integers = llvm::SmallVector<int64_t>;

/// Returns the word of an enumeration, such as LT; empty if the attribute is none.
llvm::StringRef wordOf(mlir::Attribute attribute, llvm::StringRef enumeration);

/// Returns the text between the angle brackets of #stablehlo.NAME<...>; nothing if the attribute is another one.
std::optional<llvm::StringRef> textOf(mlir::Attribute attribute, llvm::StringRef name);

/// Fields of #stablehlo.NAME<...>.
class Fields {
public:
  /// Returns nothing if the text is not a list of `field = integer` and `field = [integers]`.
  static std::optional<Fields> parse(mlir::Attribute attribute, llvm::StringRef name);

  /// Returns the integers of a field; none if the field is missing, since an empty list is not printed.
  Integers list(llvm::StringRef field) const;
  int64_t number(llvm::StringRef field, int64_t fallback) const;

private:
  llvm::SmallVector<std::pair<llvm::StringRef, Integers>> fields;
};

/// Returns the integers of array<i64: ...> or dense<...>, or nothing if the attribute is neither.
std::optional<Integers> integersOf(mlir::Attribute attribute);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_ATTRIBUTES_H
