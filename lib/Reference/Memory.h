//===- Memory.h - execution of programs in memory form ----------*- C++ -*-===//
//
// Runs a program's actions one after another over an arena.  An access that a correct plan never
// makes is an error that names the op, the buffer and the place: reading bytes that were not
// written since the buffer became live, accessing bytes outside a buffer or a buffer outside its
// live range, overwriting bytes that the same action still reads.
//
// A collective, or a copy from or to the host, reads when it starts and writes at its wait,
// which are the earliest and the latest possible times.  In between its outs are poison that no
// action may access, and its operands must not change.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_MEMORY_H
#define BRAID_LIB_REFERENCE_MEMORY_H

#include "lib/Reference/Arena.h"
#include "lib/Reference/OpTable.h"
#include "lib/Reference/Ranks.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace braid::reference {

/// The program of one rank, with its arena.
class Machine : public Process {
public:
  /// Without ranks `network` is null.
  Machine(exec::ProgramOp program, Arithmetic arithmetic, Network *network = nullptr, int64_t rank = 0);

  /// Tensors of the module that live across programs on this rank, and the program's
  /// inputs and results, in order of appearance.
  llvm::SmallVector<exec::TensorOp> persistent;
  llvm::SmallVector<exec::BufferOp> inputs, results;

  /// Checks that every buffer is inside the arena.
  mlir::LogicalResult check();
  /// Sets the persistent tensors and then the inputs.
  void write(llvm::ArrayRef<Tensor> values);
  mlir::FailureOr<bool> advance() override;
  /// Returns the results and then the persistent tensors.
  Results returned() override;

private:
  /// A collective or copy from its start to its wait.
  struct Flight {
    mlir::Operation *op;
    std::shared_ptr<Request> request;
    llvm::SmallVector<Place> ins, outs;
  };

  mlir::FailureOr<bool> runStep(mlir::Operation *op);
  mlir::FailureOr<bool> runCollective(mlir::Operation *op);
  mlir::FailureOr<Flight> startFlight(mlir::Operation *collective);
  mlir::LogicalResult completeFlight(mlir::Operation *user, const Flight &flight);
  mlir::LogicalResult checkFlights(mlir::Operation *op);
  std::string ownerText(int32_t owner) const;
  mlir::LogicalResult runAction(mlir::Operation *op);
  mlir::LogicalResult runLaunch(exec::LaunchOp launch, llvm::ArrayRef<Tensor> ins, llvm::SmallVector<Tensor> &made);
  mlir::FailureOr<Place> placeOf(mlir::Operation *user, mlir::Value reference);
  mlir::FailureOr<Tensor> readOperand(mlir::Operation *user, mlir::Value reference);
  mlir::FailureOr<Tensor> readWhole(mlir::Operation *op, const Place &place);
  int64_t beginOf(exec::ArenaRangeOpInterface range) const {
    return range.getBegin() + (range.isOnHost() ? hostBegin : 0);
  }
  template <typename OpT> Place wholePlace(OpT op, mlir::Type type);
  void writeZerosBehind(exec::TensorOp tensor);
  mlir::LogicalResult checkAliases(mlir::Operation *op);
  void updateLives();
  void poisonWorkspace();

  exec::ProgramOp program;
  Arithmetic arithmetic;
  Network *network;
  int64_t rank;
  /// Beginning of the host's memory, which follows the device's.
  int64_t hostBegin;
  Arena arena;
  llvm::SmallVector<exec::BufferOp> buffers, scratch;
  /// Buffers that become live with an action, or died before it.
  std::map<uint64_t, llvm::SmallVector<exec::BufferOp>> changes;
  /// Symbols of the module and of the program; the program's take precedence.
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> symbols;
  /// Tensors and buffers by number, which the arena uses as owners.
  llvm::SmallVector<llvm::StringRef> names;
  llvm::DenseMap<mlir::Operation *, int32_t> numbers;
  mlir::Block::iterator next;
  /// Number of the running action; -1 before the first.
  int64_t now = -1;
  /// Collectives in flight, by their start; a blocking collective is its own.
  llvm::MapVector<mlir::Operation *, Flight> flights;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_MEMORY_H
