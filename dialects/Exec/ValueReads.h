//===- ValueReads.h - which writes a program's reads must see ---*- C++ -*-===//
//
// References in memory form do not name values: values that share bytes share a reference.
// `exec.reads` records which writes each operand must see.  exec-plan-memory adds it to each
// exec.program, as a dictionary, and exec-verify-plan removes it:
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

/// The writer of a tensor: result `number` of an action, or argument `number` where `action` is -1.
struct ValueSource {
  int64_t action, number;
};

/// The place at which one element of an operand was written.
struct ElementSource {
  llvm::SmallVector<int64_t> index;
  ValueSource source;
  llvm::SmallVector<int64_t> sourceIndex;
};

/// The writes that an operand with this shape must see.
struct ValueRead {
  llvm::SmallVector<int64_t> shape;
  /// The writers of its elements.
  llvm::SmallVector<ValueSource, 1> sources;
  /// The first and last element of a view or concatenation.  Empty if the operand is its only source, whole.
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
