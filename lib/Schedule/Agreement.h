//===- Agreement.h - what the ranks of a collective agree on ----*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_AGREEMENT_H
#define BRAID_LIB_SCHEDULE_AGREEMENT_H

#include "dialects/Comm/Comm.h"

namespace braid {

/// Equal on all ranks that meet.  Tensor types are null where there are none: the
/// other ranks of a rooted collective, and one side of send and recv.
struct Agreement {
  /// The op and its attributes.
  mlir::Attribute content;
  /// The types of the tensors, in either form.
  mlir::ArrayAttr sent, received;
};

Agreement agreementOf(comm::CollectiveOpInterface op);

/// A collective that a rank has come to.
struct RankAt {
  int64_t rank;
  comm::CollectiveOpInterface op;
  /// Among the communications of the rank.
  unsigned number;
  /// Whether it is a send or recv, which meets one rank.
  bool meetsOne;
  /// `all_reduce #7`, and ` over {dp}` beside another op of that name.
  std::string str() const;
  std::string strBeside(const RankAt &other) const;
};

/// `{dp, tp}`
std::string textOf(comm::AxesAttr axes);

/// What differs, as `the reduction is sum on rank 0 and max on rank 2`.
std::string describeDifference(const RankAt &a, const RankAt &b);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_AGREEMENT_H
