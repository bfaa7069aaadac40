//===- Mesh.h - ranks and groups of ranks -----------------------*- C++ -*-===//
//
// The arithmetic of `comm.mesh`. Ranks are numbered row-major over the axes of the
// mesh. The ranks of a group (a list of axes) are numbered row-major over that list, so
// {dp, tp} and {tp, dp} are the same ranks in another order.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_MESH_H
#define BRAID_DIALECTS_COMM_MESH_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

/// Quantity of ranks.
enum class Members { None, Some, All };

class Mesh {
public:
  Mesh(llvm::ArrayRef<mlir::StringAttr> names, llvm::ArrayRef<int64_t> sizes) : names(names), sizes(sizes) {}
  explicit Mesh(MeshOp op);

  /// Returns the mesh that `symbol` names at `user`; no value if there is none.
  static std::optional<Mesh> lookup(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
  /// Like `lookup`, but fails with an error at `user` that lists the existing meshes.
  static mlir::FailureOr<Mesh> require(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
  static mlir::FailureOr<Mesh> require(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol,
                                       mlir::SymbolTableCollection &tables);

  llvm::ArrayRef<mlir::StringAttr> getNames() const { return names; }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  int64_t getNumRanks() const;
  bool has(mlir::StringAttr axis) const { return llvm::is_contained(names, axis); }
  int64_t sizeOf(mlir::StringAttr axis) const;
  /// Returns the number of ranks in a group.
  int64_t sizeOf(AxesAttr axes) const;

  /// Returns the coordinate of a rank along an axis.
  int64_t coordinate(int64_t rank, mlir::StringAttr axis) const;
  /// Returns the number of a rank in its group.
  int64_t numberInGroup(int64_t rank, AxesAttr axes) const;
  /// Returns the ranks of the group that contains `rank`, in the group's order.
  llvm::SmallVector<int64_t> groupOf(int64_t rank, AxesAttr axes) const;
  /// Returns whether `rank` runs `program`; all ranks run a null program.
  bool runs(ProgramAttr program, int64_t rank) const;
  /// Returns how many of the ranks that run `program` have this number in their group.
  /// On `None`, the ranks with this number run another function.
  Members membersWithNumber(ProgramAttr program, AxesAttr axes, int64_t number) const;

  /// Returns `{dp = 2, tp = 4}`, for messages.
  std::string str() const;

private:
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> sizes;
};

/// Fails with an error that names the axis unless `axes` are distinct axes of the mesh.
llvm::LogicalResult verifyAxes(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, const Mesh &mesh,
                               AxesAttr axes);

/// Returns the program attribute of the function around `op`; null if all ranks run it.
ProgramAttr enclosingProgram(mlir::Operation *op);

/// Returns the mesh of an op that names a group of ranks. Fails unless `axes` are a
/// group of the mesh, and the mesh is that of the function's `comm.program`.
mlir::FailureOr<Mesh> requireGroup(mlir::Operation *op, mlir::FlatSymbolRefAttr symbol, AxesAttr axes,
                                   mlir::SymbolTableCollection &tables);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_MESH_H
