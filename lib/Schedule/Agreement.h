//===- Agreement.h - what the ranks of a collective agree on ----*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_AGREEMENT_H
#define BRAID_LIB_SCHEDULE_AGREEMENT_H

#include "dialects/Comm/Comm.h"

namespace braid {

/// The signature of a collective, equal on all ranks that take part.  Tensor types are
/// null where there are no tensors: on the ranks of a rooted collective other than the
/// root, and on one side of send and recv.
struct Agreement {
  /// The op and its attributes.
  mlir::Attribute content;
  /// The types of the tensors, in either form.
  mlir::ArrayAttr sent, received;
  /// Which values it moves (dialects/Comm/MovedValues.h), and in cells of a pipeline which of the messages between two
  /// stages they are; null where nothing is said.
  mlir::ArrayAttr moved;
};

Agreement agreementOf(comm::CollectiveOpInterface op);

/// A collective that a rank has issued.
struct RankAt {
  int64_t rank;
  comm::CollectiveOpInterface op;
  /// Its number among the communications of the rank.
  unsigned number;
  /// Whether it is a send or recv, which matches one rank.
  bool isPointToPoint;
  /// `all_reduce #7`, and ` over {dp}` beside another op of that name.
  std::string str() const;
  std::string strBeside(const RankAt &other) const;
};

/// `{dp, tp}`
std::string textOf(comm::AxesAttr axes);

/// Describes what differs, as in `the reduction is sum on rank 0 and max on rank 2`.
std::string describeDifference(const RankAt &a, const RankAt &b);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_AGREEMENT_H
