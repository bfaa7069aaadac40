//===- RankTables.h - mesh, groups and collectives as tables ----*- C++ -*-===//
//
// Facts about the ranks of a module that the runtime needs. Groups are numbered by their first use; group 0 is a single
// rank. If ranks run different programs, each kind of rank has its own table of collectives; the other tables are
// shared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_RANKTABLES_H
#define BRAID_COMPILER_CODEGEN_RANKTABLES_H

#include "compiler/Codegen/ArenaMap.h"
#include "compiler/Codegen/Initializer.h"
#include "dialects/Comm/Mesh.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace braid::codegen {

/// A tensor of which a rank may hold a part.
struct TensorShard {
  /// Shape of the whole tensor and strides of the rank's block, before the flat order is sharded.
  llvm::SmallVector<int64_t> shape, strides;
  /// Groups that shard each dim. `flat` is the group that shards the block, `partial` the group to sum over.
  llvm::SmallVector<int64_t> dims;
  /// Number of parts that lie side by side in a dim and are sharded separately; 0 for an undivided dim.
  llvm::SmallVector<int64_t> fused;
  unsigned flat = 0, partial = 0;
};

/// Returns the runtime's name of a program, which is equal on all ranks.
llvm::StringRef entryOf(exec::ProgramOp program);

/// Ranks that run the same programs.
struct RankKind {
  /// The ranks of this kind; null for all ranks.
  comm::ProgramAttr ranks;
  llvm::SmallVector<exec::ProgramOp> programs;
  /// Messages of a pipeline, which are started beside programs.
  llvm::SmallVector<exec::ProgramOp> messages = {};
  /// Descriptors of their collectives, with the segments and pairs that these name.
  llvm::SmallVector<std::string> collectives = {};
  std::string parts = {};
};

/// Returns the suffix of a kind's table names.
std::string suffixOf(unsigned kind);

class RankTables {
public:
  /// Finds the mesh of the module's programs, and the kinds of ranks. Reports combinations that a binary does not
  /// support.
  static mlir::FailureOr<RankTables> create(mlir::ModuleOp module);

  /// Returns the kinds in the order of their first programs.
  llvm::ArrayRef<RankKind> getKinds() const { return kinds; }
  /// Returns the index of the kind that runs a program.
  unsigned kindOf(exec::ProgramOp program) const;

  /// Checks that the program of `op` has ranks, and that the ranks are on this mesh.
  mlir::LogicalResult requireRanks(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol);

  /// Returns the index of the group along these axes of the mesh.
  unsigned groupOf(comm::AxesAttr axes);
  int64_t sizeOf(comm::AxesAttr axes) const { return mesh->sizeOf(axes); }
  /// Returns the position of an axis in the mesh.
  unsigned placeOf(mlir::StringAttr axis) const {
    return llvm::find(mesh->getNames(), axis) - mesh->getNames().begin();
  }

  /// Returns the part of a tensor that `type`, in the arena of `op`, is.
  mlir::FailureOr<TensorShard> partOf(mlir::Operation *op, mlir::RankedTensorType type);

  /// Adds the descriptor of a collective in memory form. Returns its index.
  mlir::FailureOr<unsigned> add(comm::CollectiveOpInterface op, const ArenaMap &arena);

  /// `arraysText` returns the constant arrays of all ranks, or of a kind. `addArrays` adds the fields of the kind's
  /// br_model that point to them.
  std::string arraysText() const;
  std::string arraysText(unsigned kind) const;
  void addArrays(unsigned kind, Initializer &model) const;
  /// Adds the fields that state which ranks are of the kind.
  void addRanks(unsigned kind, Initializer &model) const;

private:
  mlir::LogicalResult useMesh(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol);
  mlir::LogicalResult addProgram(exec::ProgramOp program);
  mlir::LogicalResult verifyKinds() const;
  mlir::FailureOr<std::string> segmentText(comm::CollectiveOpInterface op, unsigned tensor, const ArenaMap &arena);
  /// Whether ranks run different programs. Along an axis of one rank, all ranks run every stage.
  bool hasOtherKinds() const { return kinds.size() > 1; }

  mlir::FlatSymbolRefAttr meshName;
  std::optional<comm::Mesh> mesh;
  /// Most CTAs of a collective on a GPU; 0 if the module does not state it.
  int64_t ctas = 0;
  llvm::MapVector<comm::AxesAttr, unsigned> groups;
  llvm::SmallVector<RankKind, 1> kinds;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_RANKTABLES_H
