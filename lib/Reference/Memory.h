//===- Memory.h - runs programs in memory -----------------------*- C++ -*-===//
//
// A program's actions run one after another over an arena.  What a correct plan
// never does is an error that names the op, the buffer and the place: to read
// what was not written since the buffer became live, to leave a buffer, to use
// one outside its life, to overwrite what the same action still reads.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_MEMORY_H
#define BRAID_LIB_REFERENCE_MEMORY_H

#include "lib/Reference/Arena.h"
#include "lib/Reference/OpTable.h"

namespace braid::reference {

/// The program of one rank, with its arena.
class Machine {
public:
  Machine(exec::ProgramOp program, Arithmetic arithmetic);

  /// The tensors of the module that live across programs, and the program's
  /// inputs and results, in order of appearance.
  llvm::SmallVector<exec::TensorOp> persistent;
  llvm::SmallVector<exec::BufferOp> inputs, results;

  /// Checks that every buffer lies in the arena.
  mlir::LogicalResult check();
  void write(exec::TensorOp tensor, const Tensor &value);
  void write(exec::BufferOp input, const Tensor &value);
  mlir::LogicalResult run();
  mlir::FailureOr<Tensor> read(exec::TensorOp tensor);
  mlir::FailureOr<Tensor> read(exec::BufferOp result);

private:
  mlir::LogicalResult runAction(mlir::Operation *op);
  mlir::LogicalResult runLaunch(exec::LaunchOp launch, llvm::ArrayRef<Tensor> ins, llvm::SmallVector<Tensor> &made);
  mlir::FailureOr<Place> placeOf(mlir::Operation *user, mlir::Value reference);
  mlir::FailureOr<Tensor> readOperand(mlir::Operation *user, mlir::Value reference);
  mlir::FailureOr<Tensor> readWhole(mlir::Operation *op, const Place &place);
  template <typename OpT> Place wholePlace(OpT op, mlir::Type type);
  mlir::LogicalResult checkAliases(mlir::Operation *op);
  void updateLives();
  void poisonWorkspace();

  exec::ProgramOp program;
  Arithmetic arithmetic;
  Arena arena;
  llvm::SmallVector<exec::BufferOp> buffers;
  /// The symbols of the module and, before them, of the program.
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> symbols;
  /// Tensors and buffers by number; the arena's owners are these numbers.
  llvm::SmallVector<llvm::StringRef> names;
  llvm::DenseMap<mlir::Operation *, int32_t> numbers;
  /// The number of the action that runs; -1 before the first.
  int64_t now = -1;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_MEMORY_H
