//===- PipelineTables.h - pipeline slots and cells as tables ----*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_PIPELINETABLES_H
#define BRAID_COMPILER_CODEGEN_PIPELINETABLES_H

#include "compiler/Codegen/RankTables.h"
#include "lib/Schedule/PipelineTable.h"

namespace braid::codegen {

class Initializer;

/// br_model.slots and br_model.cells of each kind of ranks.
class PipelineTables {
public:
  /// Returns an empty object for a module without a pipeline.
  static mlir::FailureOr<PipelineTables> create(mlir::ModuleOp module);

  /// Returns the index into br_model.slots, which is equal for all kinds of ranks.
  unsigned numberOf(mlir::StringAttr symbol) const { return numbers.lookup(symbol); }
  /// Records the index of a collective in the message `program`.
  void addMessage(mlir::Operation *program, unsigned collective) { collectives[program].push_back(collective); }

  /// `arraysText` returns the arrays of all kinds, or those of one kind. `addArrays` adds the fields of the kind's
  /// br_model.
  std::string arraysText() const;
  std::string arraysText(const RankKind &kind, unsigned number) const;
  void addArrays(unsigned number, Initializer &model) const;

private:
  explicit PipelineTables(std::optional<PipelineTable> table) : table(std::move(table)) {}

  std::optional<PipelineTable> table;
  llvm::MapVector<mlir::StringAttr, unsigned> numbers;
  /// Bytes of each slot, by index.
  std::vector<int64_t> slotBytes;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> collectives;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_PIPELINETABLES_H
