//===- Ranks.h - many ranks in one process ----------------------*- C++ -*-===//
//
// Ranks run in turn, each until it must wait for others. There are no threads, so every run is
// the same and needs no time-out: if no rank can advance, that is known at once and reported.
//
// Every rank has one queue for its collectives, like a runtime with one communication
// thread.  A start puts a collective on the queue, and a wait ends when the collective
// is done; a blocking collective is both.  Only the head of a queue can run. A
// collective completes when it is at the head of the queues of all ranks of its group,
// a send when its receiver's head is the recv.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_RANKS_H
#define BRAID_LIB_REFERENCE_RANKS_H

#include "dialects/Comm/Comm.h"
#include "dialects/Comm/Mesh.h"
#include "lib/Reference/OpTable.h"
#include <deque>
#include <memory>

namespace braid::reference {

/// A rank that takes part in a collective.
struct Member {
  int64_t rank;
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> sent;
};

/// Received tensors of each member.
using Received = llvm::SmallVector<llvm::SmallVector<Tensor>>;

/// Checks that the ops of all members agree in attributes, number and types of tensors.
/// The error names two ranks and the difference.
mlir::LogicalResult checkAgreement(llvm::ArrayRef<Member> members);

/// Runs a collective; members are in the order of the group, or a sender and its receiver.
Received communicate(llvm::ArrayRef<Member> members, Arithmetic arithmetic);

/// A collective or copy that a rank has started.
struct Request {
  mlir::Operation *op; ///< the collective or copy
  int64_t number;      ///< number among the collectives of its rank, from 0
  llvm::SmallVector<Tensor> sent, received;
  bool done = false;
};

/// Returns the request of a copy between a rank's memories, which waits for no rank.
std::shared_ptr<Request> copyRequest(mlir::Operation *op, llvm::SmallVector<Tensor> tensors);

/// The queues of all ranks of a mesh.
class Network {
public:
  Network(const comm::Mesh &mesh, mlir::FlatSymbolRefAttr name, Arithmetic arithmetic);

  const comm::Mesh &getMesh() const { return mesh; }

  /// Puts a collective on a rank's queue.
  mlir::FailureOr<std::shared_ptr<Request>> start(int64_t rank, comm::CollectiveOpInterface op,
                                                  llvm::SmallVector<Tensor> sent);
  /// Runs all collectives that can run; returns their number.
  mlir::FailureOr<int64_t> deliver();
  /// Reports the deadlock if no collective can run and no rank can advance.
  mlir::LogicalResult reportDeadlock() const;

private:
  struct Queue {
    std::deque<std::shared_ptr<Request>> requests;
    int64_t started = 0;
  };

  Request *head(int64_t rank) const;
  llvm::SmallVector<int64_t> ranksOf(int64_t rank, mlir::Operation *op) const;
  bool match(int64_t rank, int64_t other) const;
  std::optional<int64_t> missing(int64_t rank) const;
  std::string describe(int64_t rank, int64_t other) const;
  mlir::LogicalResult executeCollective(int64_t rank);

  comm::Mesh mesh;
  mlir::FlatSymbolRefAttr name;
  Arithmetic arithmetic;
  std::vector<Queue> queues;
};

/// The running program of one rank.
class Process {
public:
  virtual ~Process() = default;
  /// Runs until it must wait for other ranks; returns true once it has ended.
  virtual mlir::FailureOr<bool> advance() = 0;
  /// Returns the results, after it has ended.
  virtual Results returned() = 0;
};

/// Runs all ranks to their ends.
mlir::LogicalResult runRanks(llvm::ArrayRef<std::unique_ptr<Process>> ranks, Network &network);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_RANKS_H
