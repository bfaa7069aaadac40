//===- RankTables.h - mesh, groups and collectives as tables ----*- C++ -*-===//
//
// What the runtime must know of the ranks that run a module.  Groups are numbered
// by their first use; group 0 is a rank alone.  Where ranks run programs of their own
// each kind of rank has its table of collectives; the rest is the same for all.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_RANKTABLES_H
#define BRAID_LIB_CODEGEN_RANKTABLES_H

#include "dialects/Comm/Mesh.h"
#include "lib/Codegen/ArenaMap.h"
#include "lib/Codegen/Initializer.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace braid::codegen {

/// A tensor that a rank may hold a part of.
struct PartOfTensor {
  /// The whole tensor and the strides of the rank's block, before the flat order is sharded.
  llvm::SmallVector<int64_t> shape, strides;
  /// The groups that shard its dims and the block, and that it is a sum over.
  llvm::SmallVector<int64_t> dims;
  /// How many parts are side by side in a dim, each sharded by itself; 0: the dim is one.
  llvm::SmallVector<int64_t> fused;
  unsigned flat = 0, partial = 0;
};

/// The name of a program for the runtime: what all ranks call it.
llvm::StringRef entryOf(exec::ProgramOp program);

/// Ranks that run the same programs.
struct RankKind {
  /// Which they are; null for all.
  comm::ProgramAttr ranks;
  llvm::SmallVector<exec::ProgramOp> programs;
  /// Of a pipeline: they are started beside programs.
  llvm::SmallVector<exec::ProgramOp> messages = {};
  /// Their collectives: descriptors, with the segments and pairs that these name.
  llvm::SmallVector<std::string> collectives = {};
  std::string parts = {};
};

/// What the names of a kind's tables end in.
std::string suffixOf(unsigned kind);

class RankTables {
public:
  /// Finds the mesh of the module's programs, and the kinds of ranks; reports what a
  /// binary cannot be.
  static mlir::FailureOr<RankTables> create(mlir::ModuleOp module);

  /// In the order of their first programs.
  llvm::ArrayRef<RankKind> getKinds() const { return kinds; }
  /// The number of the kind that runs a program.
  unsigned kindOf(exec::ProgramOp program) const;

  /// Checks that the program of `op` has ranks, and that they are those of this mesh.
  mlir::LogicalResult requireRanks(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol);

  /// The number of the group along these axes of the mesh.
  unsigned groupOf(comm::AxesAttr axes);
  int64_t sizeOf(comm::AxesAttr axes) const { return mesh->sizeOf(axes); }
  /// The place of an axis in the mesh.
  unsigned placeOf(mlir::StringAttr axis) const {
    return llvm::find(mesh->getNames(), axis) - mesh->getNames().begin();
  }

  /// Which part of a tensor the `type` in the arena of `op` is.
  mlir::FailureOr<PartOfTensor> partOf(mlir::Operation *op, mlir::RankedTensorType type);

  /// Gives a collective in memory form its descriptor; returns the number.
  mlir::FailureOr<unsigned> add(comm::CollectiveOpInterface op, const ArenaMap &arena);

  /// The constant arrays of all ranks and of a kind, and the fields of its br_model
  /// that point to them.
  std::string arraysText() const;
  std::string arraysText(unsigned kind) const;
  void addArrays(unsigned kind, Initializer &model) const;
  /// Those that say which ranks are of the kind.
  void addRanks(unsigned kind, Initializer &model) const;

private:
  mlir::LogicalResult useMesh(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol);
  mlir::LogicalResult addProgram(exec::ProgramOp program);
  mlir::LogicalResult verifyKinds() const;
  mlir::FailureOr<std::string> segmentText(comm::CollectiveOpInterface op, unsigned tensor, const ArenaMap &arena);
  /// Whether ranks run programs of their own; stages along an axis of one rank are those of all ranks.
  bool hasOtherKinds() const { return kinds.size() > 1; }

  mlir::FlatSymbolRefAttr meshName;
  std::optional<comm::Mesh> mesh;
  /// The most of a collective on a GPU; 0 where the module does not say it.
  int64_t ctas = 0;
  llvm::MapVector<comm::AxesAttr, unsigned> groups;
  llvm::SmallVector<RankKind, 1> kinds;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_RANKTABLES_H
