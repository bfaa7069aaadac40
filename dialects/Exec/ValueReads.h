//===- ValueReads.h - the writes that each read must see --------*- C++ -*-===//
//
// References in memory form do not name values: values that share bytes share a reference.
// `exec.reads` records which writes each operand must see. exec-plan-memory adds it to each
// exec.program, as a dictionary, and exec-verify-plan removes it:
//
//   arguments  the name of each parameter or state; "" for an input
//   actions    the operands of each action, in order (ValueRead, as numbers)
//   results    the results of the program, in the same encoding
//   updates    the parameter or state whose new value a result is; "" for others
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_VALUEREADS_H
#define BRAID_DIALECTS_EXEC_VALUEREADS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace braid::exec {

inline constexpr llvm::StringLiteral kReads = "exec.reads";

/// Writer of a tensor: result `number` of an action, or argument `number` if `action` is -1.
struct ValueSource {
  int64_t action, number;
};

/// Source of one element of an operand.
struct ElementSource {
  llvm::SmallVector<int64_t> index;
  ValueSource source;
  llvm::SmallVector<int64_t> sourceIndex;
};

/// Writes that an operand of this shape must see.
struct ValueRead {
  llvm::SmallVector<int64_t> shape;
  /// Writers of its elements.
  llvm::SmallVector<ValueSource, 1> sources;
  /// First and last element of a view or concatenation. Empty if the operand is the whole of its only source.
  llvm::SmallVector<ElementSource, 0> elements;
};

struct ProgramReads {
  std::vector<std::string> arguments;
  std::vector<llvm::SmallVector<ValueRead, 0>> actions;
  std::vector<ValueRead> results;
  std::vector<std::string> updates;
};

mlir::DictionaryAttr encodeReads(mlir::MLIRContext *context, const ProgramReads &reads);
/// Returns the reads, or null unless the attribute has the form above. Numbers of actions, results
/// and arguments are not checked against a program.
std::optional<ProgramReads> decodeReads(mlir::Attribute attribute);

llvm::LogicalResult verifyReads(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_VALUEREADS_H
