//===- PipelineTables.h - what ranks of a pipeline do, as tables -*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_PIPELINETABLES_H
#define BRAID_LIB_CODEGEN_PIPELINETABLES_H

#include "lib/Codegen/RankTables.h"
#include "lib/Schedule/PipelineTable.h"

namespace braid::codegen {

class Initializer;

/// br_model.slots and br_model.cells of each kind of ranks.
class PipelineTables {
public:
  /// Empty for a module without a pipeline.
  static mlir::FailureOr<PipelineTables> create(mlir::ModuleOp module);

  /// The place of slots in br_model.slots, which is the same for all kinds.
  unsigned numberOf(mlir::StringAttr symbol) const { return numbers.lookup(symbol); }
  /// Notes which collective a message is.
  void addMessage(mlir::Operation *program, unsigned collective) { collectives[program].push_back(collective); }

  /// The arrays of all kinds; of one, with the fields of its br_model.
  std::string arraysText() const;
  std::string arraysText(const RankKind &kind, unsigned number) const;
  void addArrays(unsigned number, Initializer &model) const;

private:
  explicit PipelineTables(std::optional<PipelineTable> table) : table(std::move(table)) {}

  std::optional<PipelineTable> table;
  llvm::MapVector<mlir::StringAttr, unsigned> numbers;
  /// The bytes of a slot, by number.
  std::vector<int64_t> slotBytes;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> collectives;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_PIPELINETABLES_H
