//===- Agreement.h - signature shared by a collective's ranks ---*- C++ -*-===//
#ifndef BRAID_LIB_SCHEDULE_AGREEMENT_H
#define BRAID_LIB_SCHEDULE_AGREEMENT_H

#include "dialects/Comm/Comm.h"

namespace braid {

/// The signature of a collective, equal on all ranks that take part. Tensor types are null where a rank has no tensors:
/// on non-root ranks of a rooted collective, and on one side of send and recv.
struct Agreement {
  /// The op and its attributes.
  mlir::Attribute content;
  /// Types of the tensors, as values or as refs.
  mlir::ArrayAttr sent, received;
  /// Identities of the moved values (dialects/Comm/MovedValues.h), and for cells of a pipeline also the index of the
  /// message between two stages; null if unknown.
  mlir::ArrayAttr moved;
};

Agreement agreementOf(comm::CollectiveOpInterface op);

/// A collective that a rank has issued.
struct RankAt {
  int64_t rank;
  comm::CollectiveOpInterface op;
  /// Index among the communications of the rank.
  unsigned number;
  /// Whether the op is a send or recv, which matches a single rank.
  bool isPointToPoint;
  /// `str` returns `all_reduce #7`; `strRelativeTo` adds ` over {dp}` if the other op has the same name.
  std::string str() const;
  std::string strRelativeTo(const RankAt &other) const;
};

/// Returns the axes as `{dp, tp}`.
std::string textOf(comm::AxesAttr axes);

/// Describes the first difference, as in `the reduction is sum on rank 0 and max on rank 2`.
std::string describeDifference(const RankAt &a, const RankAt &b);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_AGREEMENT_H
