//===- Order.h - do ranks deadlock? -----------------------------*- C++ -*-===//
//
// A rank computes, and has one queue on which one thread communicates in the order
// of starts.  Computing starts communications and waits for them.  The head of the
// queue ends once it has matched at the heads of all ranks that take part: all
// ranks of the group, or the sender and the receiver.  (In a permute the whole
// group takes part.)
//
// The end state does not depend on who goes first: a head takes part in one match,
// and a match that completes removes no other one.  So the end state is as
// symmetric as the problem.  Moving all ranks along an axis maps groups onto
// groups; where it also keeps everyone's class, and no peer is numbered along the
// axis, the ranks along it are always in the same state and one stands for all.
// That makes a mesh of any size one rank for an SPMD program of collectives, which
// is in lock step: every rank issues the n-th one after the (n-1)-th.  It makes one
// rank a stage of a pipeline with data parallel stages.  Ranks are simulated one by
// one only along axes that sends are numbered by.
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
  /// Which communications match: those of a group, or a send and its recv.
  enum class CommunicationKind { Group, Send, Recv };

  struct Communication {
    CommunicationKind kind = CommunicationKind::Group;
    unsigned communicator = 0;
    /// The number in the group of the other side of a send or recv.
    int64_t peer = 0;
    /// The signature, in which matching communications must agree.  `content` is equal in
    /// a group.  0 for `sent` and `received` means no tensors, which agrees with
    /// anything: in a rooted collective only the root has them.  What a send sends is what
    /// its recv receives.  `moved` is which values these are; 0 agrees with anything, too.
    unsigned content = 0, sent = 0, received = 0, moved = 0;
    mlir::Operation *op = nullptr;
  };

  /// Computing starts a communication, or waits for it.
  struct Step {
    enum Kind { Start, Wait } kind;
    unsigned communication;
    mlir::Operation *op = nullptr;
  };

  /// A program that some of the ranks run, with its communications in the order of their
  /// starts.
  struct Class {
    std::vector<Communication> communications;
    std::vector<Step> steps;
    mlir::Operation *op = nullptr;
  };

  /// The sizes of the mesh's axes; ranks are numbered row-major.
  std::vector<int64_t> sizes;
  /// The axes of each communicator, major to minor.
  std::vector<std::vector<unsigned>> communicators;
  std::vector<Class> classes;
  /// A rank's coordinate along `axis` gives its class in `classOf`; without an
  /// axis there is one class.
  std::optional<unsigned> axis;
  std::vector<unsigned> classOf;
};

/// A step that breaks the rule of tickets: start in order, wait once, later.
struct OrderFault {
  enum Kind { StartedOutOfOrder, WaitedBeforeStart, WaitedTwice, NeverWaited } kind;
  unsigned classNumber, communication;
  /// The step at fault, none for NeverWaited.
  std::optional<unsigned> step;
};

/// The first fault, if any.  Only problems without one are simulated.
std::optional<OrderFault> check(const OrderProblem &problem);

/// Where a rank has stopped when none can make progress.
struct RankState {
  int64_t rank;
  unsigned classNumber;
  /// How many of its communications have ended; the next one, if `started` is
  /// more, is the head of the queue.
  unsigned completed = 0, started = 0;
  /// The step at which computing is.
  unsigned step = 0;

  std::optional<unsigned> head() const {
    return completed < started ? std::optional<unsigned>(completed) : std::nullopt;
  }
};

/// Why ranks wait forever.
struct Deadlock {
  enum Kind {
    /// Each of `ranks` waits for the next, the last for the first.
    Cycle,
    /// The first waits for the second, which has no matching communication left.
    Unmatched,
    /// The two do not issue the same communication.
    Mismatch
  } kind;
  std::vector<RankState> ranks;
};

/// The final states of the ranks that stand for all, in their order.  Linear in the steps
/// of these ranks.
std::vector<RankState> simulate(const OrderProblem &problem);

/// The first deadlock, if not all ranks finish.
std::optional<Deadlock> findDeadlock(const OrderProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ORDER_H
