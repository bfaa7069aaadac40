//===- CppText.h - C++ as text: literals, names, wrapped lines --*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_CPPTEXT_H
#define BRAID_COMPILER_CODEGEN_CPPTEXT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid::codegen {

/// Returns the shortest literal that parses to the same float: `0.1f`, `-INFINITY`.
std::string floatLiteral(const llvm::APFloat &value);
/// Returns the literal of a double, for tables.
std::string doubleLiteral(double value);
/// Returns the runtime's name of an element type: `BR_F32`, ….
std::string dtypeText(mlir::Type element);
/// Returns a quoted string literal of the bytes of `text`, which may be any bytes.
std::string stringLiteral(llvm::StringRef text);

/// Returns whether a name is a keyword of C++ or a lower-case macro of the headers that generated code includes.
bool isWordOfCpp(llvm::StringRef name);

/// Returns `name` with every character replaced that C++ does not allow.
std::string identifier(llvm::StringRef name);

/// Returns `head` `(` arguments `)` `tail`. Breaks lines of more than 80 columns after commas, and aligns them with the
/// bracket as clang-format does.
std::string wrapCall(llvm::StringRef head, llvm::ArrayRef<std::string> arguments, llvm::StringRef tail);

/// Returns `text` in a form that is safe in a `//` comment: control characters, backslashes (which continue a line),
/// trigraphs and bytes beyond ASCII become `<0A>`. Every name, location and path of a graph in a comment must pass
/// through this function.
std::string commentText(llvm::StringRef text);

/// Returns `text`, made safe by `commentText`, as `//` lines of at most `columns` columns. Lines after the first have
/// `hang` additional blanks.
std::string comment(llvm::StringRef text, llvm::StringRef indent = "", unsigned columns = 80, unsigned hang = 0);

/// Returns whether `text` contains the identifier `name`.
bool containsIdentifier(llvm::StringRef text, llvm::StringRef name);

/// Returns an initializer: "{8, 64, 768}".
std::string listText(llvm::ArrayRef<int64_t> values);

/// Returns "8 x 64 x 768", or "scalar" if there are no dims.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Returns the origin of an op: names, or `file.mlir:12` without folders; empty if unknown.
std::string originText(mlir::Location location);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_CPPTEXT_H
