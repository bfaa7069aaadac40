//===- Ranks.h - many ranks in one process ----------------------*- C++ -*-===//
//
// Ranks are run in turn, each until it must wait for others; there are no
// threads, so a run is the same every time and needs no time-out: when no rank
// can go on, that is known at once and reported.
//
// Every rank has one queue for its collectives, as a run-time system with one
// communication thread has.  A start puts a collective on the queue and a wait
// ends when it is done; a blocking collective is both.  Only the head of a queue
// can be carried out: a collective completes when it is at the head of the queue
// of every rank of its group, a send when its receiver's head is the recv.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_RANKS_H
#define BRAID_LIB_REFERENCE_RANKS_H

#include "dialects/Comm/Mesh.h"
#include "lib/Reference/Collectives.h"
#include <deque>
#include <memory>

namespace braid::reference {

/// A collective, or a copy, that a rank has started.
struct Request {
  mlir::Operation *op; ///< the collective or copy
  int64_t number;      ///< among the collectives of its rank, from 0
  llvm::SmallVector<Tensor> sent, received;
  bool done = false;
};

/// A copy between a rank's memories, which waits for nobody.
std::shared_ptr<Request> copyRequest(mlir::Operation *op, llvm::SmallVector<Tensor> tensors);

/// The queues of all ranks of a mesh.
class Network {
public:
  Network(const comm::Mesh &mesh, mlir::FlatSymbolRefAttr name, Arithmetic arithmetic);

  const comm::Mesh &getMesh() const { return mesh; }

  /// Puts a collective on a rank's queue.
  mlir::FailureOr<std::shared_ptr<Request>> start(int64_t rank, comm::CollectiveOpInterface op,
                                                  llvm::SmallVector<Tensor> sent);
  /// Carries out what can be; returns how many collectives were.
  mlir::FailureOr<int64_t> deliver();
  /// The error when nothing can be delivered and no rank can go on.
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
  mlir::LogicalResult carryOut(int64_t rank);

  comm::Mesh mesh;
  mlir::FlatSymbolRefAttr name;
  Arithmetic arithmetic;
  std::vector<Queue> queues;
};

/// The program of one rank, under way.
class Process {
public:
  virtual ~Process() = default;
  /// Runs until it must wait for other ranks; true when it has ended.
  virtual mlir::FailureOr<bool> advance() = 0;
  /// What it returns, once it has ended.
  virtual Results returned() = 0;
};

/// Runs all ranks to their ends.
mlir::LogicalResult runRanks(llvm::ArrayRef<std::unique_ptr<Process>> ranks, Network &network);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_RANKS_H
