//===- Order.h - detects deadlocks between ranks ----------------*- C++ -*-===//
//
// Each rank computes, and one thread of the rank communicates, in the order of starts in a queue. Computing starts
// communications and waits for them. The head of a queue ends when it matches the heads of all participating ranks: all
// ranks of the group, or sender and receiver. (The whole group takes part in a permute.)
//
// The end state does not depend on the order of execution: a head takes part in one match, and completing a match
// removes no other match. So the end state has the symmetries of the problem. A shift of all ranks along an axis maps
// groups onto groups. If it also keeps the class of every rank, and no peer is numbered along this axis, the ranks
// along the axis are always in the same state and one of them represents all. An SPMD program of collectives needs one
// simulated rank for a mesh of any size: it runs in lock step, because every rank issues the n-th collective after the
// (n-1)-th. A pipeline with data-parallel stages needs one rank per stage. Ranks are simulated one by one only along
// axes by which sends are numbered.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_ORDER_H
#define BRAID_LIB_SCHEDULE_ORDER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace braid {

struct OrderProblem {
  /// How communications match: within a group, or a send with its recv.
  enum class CommunicationKind { Group, Send, Recv };

  struct Communication {
    CommunicationKind kind = CommunicationKind::Group;
    unsigned communicator = 0;
    /// Index in the group of the peer of a send or recv.
    int64_t peer = 0;
    /// The signature, in which matching communications must agree. `content` is equal in a group. A 0 in `sent` or
    /// `received` means no tensors and agrees with any value: only the root of a rooted collective has them. The `sent`
    /// of a send equals the `received` of its recv. `moved` identifies the values; 0 agrees with any value, too.
    unsigned content = 0, sent = 0, received = 0, moved = 0;
    mlir::Operation *op = nullptr;
  };

  /// Computing starts a communication, or waits for it.
  struct Step {
    enum Kind { Start, Wait } kind;
    unsigned communication;
    mlir::Operation *op = nullptr;
  };

  /// A program that some of the ranks run, with its communications in the order of their starts.
  struct Class {
    std::vector<Communication> communications;
    std::vector<Step> steps;
    mlir::Operation *op = nullptr;
  };

  /// Sizes of the mesh's axes. Ranks are numbered in row-major order.
  std::vector<int64_t> sizes;
  /// Axes of each communicator, from major to minor.
  std::vector<std::vector<unsigned>> communicators;
  std::vector<Class> classes;
  /// `classOf` maps a rank's coordinate along `axis` to its class. Without an axis there is one class.
  std::optional<unsigned> axis;
  std::vector<unsigned> classOf;
};

/// A step that breaks the rule of tickets: start in order, then wait once.
struct OrderFault {
  enum Kind { StartedOutOfOrder, WaitedBeforeStart, WaitedTwice, NeverWaited } kind;
  unsigned classNumber, communication;
  /// The faulty step; none for NeverWaited.
  std::optional<unsigned> step;
};

/// Returns the first fault, if any. Only problems without faults are simulated.
std::optional<OrderFault> check(const OrderProblem &problem);

/// State of a rank when no rank can make progress.
struct RankState {
  int64_t rank;
  unsigned classNumber;
  /// Number of communications that have ended, and that have started. If `started` is larger, the next communication is
  /// the head of the queue.
  unsigned completed = 0, started = 0;
  /// The current step of computing.
  unsigned step = 0;

  std::optional<unsigned> head() const {
    return completed < started ? std::optional<unsigned>(completed) : std::nullopt;
  }
};

/// The reason why ranks wait forever.
struct Deadlock {
  enum Kind {
    /// Each of `ranks` waits for the next one, and the last for the first.
    Cycle,
    /// The first rank waits for the second, which has no matching communication left.
    Unmatched,
    /// The two ranks do not issue the same communication.
    Mismatch
  } kind;
  std::vector<RankState> ranks;
};

/// Returns the final states of the representative ranks, in their order. Linear in the steps of these ranks.
std::vector<RankState> simulate(const OrderProblem &problem);

/// Returns the first deadlock, or none if all ranks finish.
std::optional<Deadlock> findDeadlock(const OrderProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ORDER_H
