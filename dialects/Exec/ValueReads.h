//===- ValueReads.h - which writes a program's reads must see ---*- C++ -*-===//
//
// A program in memory form no longer says what its references were: values that share bytes
// have one reference.  Between exec-plan-memory and exec-verify-plan `exec.reads` says it, a
// dictionary on the exec.program, from the program on values:
//
//   arguments  the name of each parameter or state, "" of an input
//   actions    for each action its operands, one behind the other (ValueRead, as numbers)
//   results    what the program returns, in the same way
//   updates    the parameter or state whose new value a result is; "" of others
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_VALUEREADS_H
#define BRAID_DIALECTS_EXEC_VALUEREADS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace braid::exec {

inline constexpr llvm::StringLiteral kReads = "exec.reads";

/// Who wrote a tensor: result `number` of an action, or, where `action` is -1, argument `number`.
struct ValueSource {
  int64_t action, number;
};

/// Where one element of an operand was written.
struct ElementSource {
  llvm::SmallVector<int64_t> index;
  ValueSource source;
  llvm::SmallVector<int64_t> sourceIndex;
};

/// What an operand of type `shape` must see.
struct ValueRead {
  llvm::SmallVector<int64_t> shape;
  /// All that it consists of.
  llvm::SmallVector<ValueSource, 1> sources;
  /// The first and the last element, where the operand is a view or concatenation; else none, and
  /// it is its source.
  llvm::SmallVector<ElementSource, 0> elements;
};

struct ProgramReads {
  std::vector<std::string> arguments;
  std::vector<llvm::SmallVector<ValueRead, 0>> actions;
  std::vector<ValueRead> results;
  std::vector<std::string> updates;
};

mlir::DictionaryAttr encodeReads(mlir::MLIRContext *context, const ProgramReads &reads);
/// Null unless the attribute has the form above.  Numbers of actions, results and arguments are not
/// compared with any program.
std::optional<ProgramReads> decodeReads(mlir::Attribute attribute);

llvm::LogicalResult verifyReads(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_VALUEREADS_H
