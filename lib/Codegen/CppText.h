//===- CppText.h - C++ as text: literals, names, wrapped lines --*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_CPPTEXT_H
#define BRAID_LIB_CODEGEN_CPPTEXT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace braid::codegen {

/// The shortest literal that reads back as this float: `0.1f`, `-INFINITY`.
std::string floatLiteral(const llvm::APFloat &value);
/// A double, for tables.
std::string doubleLiteral(double value);
/// `BR_F32`, ….
std::string dtypeText(mlir::Type element);
/// A quoted string literal of the bytes of `text`, whatever they are.
std::string stringLiteral(llvm::StringRef text);

/// `name` with every character that C++ does not allow replaced.
std::string identifier(llvm::StringRef name);

/// `head` `(` arguments `)` `tail`, broken after commas where it passes 80
/// columns, continued below the bracket as clang-format does.
std::string wrapCall(llvm::StringRef head, llvm::ArrayRef<std::string> arguments, llvm::StringRef tail);

/// `text` such that it can stand in a `//` comment, whatever it is: control characters,
/// backslashes (which continue a line), trigraphs and bytes beyond ASCII become `<0A>`.
/// Every name, location and path of a graph that becomes part of a comment goes through it.
std::string commentText(llvm::StringRef text);

/// `text`, made safe by `commentText`, as `//` lines of at most so many columns; those after the first begin with
/// `hang` more blanks.
std::string comment(llvm::StringRef text, llvm::StringRef indent = "", unsigned columns = 80, unsigned hang = 0);

/// Whether `text` has the identifier `name` in it.
bool mentions(llvm::StringRef text, llvm::StringRef name);

/// "{8, 64, 768}", an initializer.
std::string listText(llvm::ArrayRef<int64_t> values);

/// "8 x 64 x 768"; "scalar" for no dims.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Where an op came from: names, or `file.mlir:12` without folders; empty when
/// nothing is known.
std::string originText(mlir::Location location);

/// The first of those names, of the layer rather than the op that was taken apart
/// there; empty when there is none.
std::string layerText(mlir::Location location);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_CPPTEXT_H
