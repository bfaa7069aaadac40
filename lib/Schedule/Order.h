//===- Order.h - does every rank's communication come to its end? -*- C++ -*-===//
//
// A rank computes, and has one queue on which one thread communicates in the
// order of starts.  Computing starts communications and waits for them.  The head
// of the queue ends when everybody it concerns has come to it: all ranks of the
// group, or the sender and the receiver.  (A permute concerns the whole group.)
//
// The end state does not depend on who goes first: a head takes part in one
// meeting, and a meeting that takes place removes no other one.  So the end state
// is as symmetric as the problem.  Moving all ranks along an axis maps groups onto
// groups; where it also keeps everyone's class, and no peer is numbered along the
// axis, the ranks along it are always in the same state and one stands for all.
// That makes a mesh of any size one rank for an SPMD program of collectives, which
// is in lock step: every rank comes to the n-th one after the (n-1)-th.  It makes
// one rank a stage of a pipeline with data parallel stages.  Ranks are simulated
// one by one only along axes that sends are numbered by.
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
  /// Whom a communication meets.
  enum class Meeting { Group, Send, Recv };

  struct Communication {
    Meeting meeting = Meeting::Group;
    unsigned communicator = 0;
    /// The number in the group of the other side of a send or recv.
    int64_t peer = 0;
    /// What those who meet must agree on.  `content` is equal for a group; of what
    /// is sent and received 0 is nothing, which agrees with anything: a rooted
    /// collective has tensors at the root alone.  What a send sends its recv
    /// receives.
    unsigned content = 0, sent = 0, received = 0;
    mlir::Operation *op = nullptr;
  };

  /// Computing starts a communication, or waits for it.
  struct Step {
    enum Kind { Start, Wait } kind;
    unsigned communication;
    mlir::Operation *op = nullptr;
  };

  /// What some ranks run: communications in the order of their starts.
  struct Class {
    std::vector<Communication> communications;
    std::vector<Step> steps;
    mlir::Operation *op = nullptr;
  };

  /// Of the mesh's axes; ranks are numbered row-major.
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

/// Where a rank stands when nothing moves any more.
struct RankState {
  int64_t rank;
  unsigned classNumber;
  /// How many of its communications have ended; the next one, if `started` is
  /// more, is the head of the queue.
  unsigned completed = 0, started = 0;
  /// The step that computing has come to.
  unsigned step = 0;

  std::optional<unsigned> head() const {
    return completed < started ? std::optional<unsigned>(completed) : std::nullopt;
  }
};

/// Why ranks wait for ever.
struct Standstill {
  enum Kind {
    /// Each of `ranks` waits for the next, the last for the first.
    Cycle,
    /// The first waits for the second, which has nothing left to meet it with.
    Unpaired,
    /// The two meet, but not with the same.
    Disagreement
  } kind;
  std::vector<RankState> ranks;
};

/// The states in the end of the ranks that stand for all, in their order; linear
/// in the steps of these ranks.
std::vector<RankState> simulate(const OrderProblem &problem);

/// The first standstill, if the ranks do not all come to their end.
std::optional<Standstill> findStandstill(const OrderProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ORDER_H
