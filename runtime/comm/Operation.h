//===- Operation.h - operation on the communication thread ----------------===//
//
// A checked copy of a br_operation, with its group and number. CollectiveKinds.h defines the meaning of its
// kind. `Signature` is the part that all ranks of a group must agree on; ranks compare signatures before
// any data moves.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_OPERATION_H
#define BRAID_COMM_OPERATION_H

#include "CollectiveKinds.h"
#include "base/NumberTypes.h"
#include "comm/braid_comm.h"

#include <string>
#include <vector>

namespace braid {

// An ordered list of ranks. `me` is the place of the rank that holds this copy, or -1.
struct Group {
  int id = 0;
  std::vector<int> ranks;
  int me = 0;

  int size() const { return static_cast<int>(ranks.size()); }
};

// Plain data, because transports send it as bytes.
struct Signature {
  uint64_t number = 0; // number of the operation on its own rank; never compared
  int32_t kind = 0, reduction = 0, dtype = 0, root = 0;
  int64_t elements = 0;
  uint64_t layout = 0; // hash of the counts of all segments, the pairs and the group
};

struct Operation {
  Signature signature;
  const Group *group = nullptr;
  std::vector<br_segment> segments;
  std::vector<int32_t> pairs;

  br_collective kind() const { return static_cast<br_collective>(signature.kind); }
  br_reduction reduction() const { return static_cast<br_reduction>(signature.reduction); }
  br_dtype dtype() const { return static_cast<br_dtype>(signature.dtype); }
  int root() const { return signature.root; }
  bool isRoot() const { return group->me == root(); }
  const CollectiveKind &row() const { return rowOf(signature.kind); }

  // Whether the rank at `place` of the group sends (or receives).
  bool sends(int place) const { return participates(row().sent.participants, place); }
  bool receives(int place) const { return participates(row().received.participants, place); }

  // Assigns from a description and reuses this object's memory. Throws Error if the description is invalid
  // for the group.
  void assign(const br_operation &description, const Group &group, uint64_t number);

  // For transfers of whole tensors: the rank that this rank receives from, and the rank that receives this
  // rank's tensors; -1 for none.
  int source() const;
  int target() const;

private:
  bool participates(Participants participants, int place) const;
};

// Whether this rank's operation and the operation of a peer, at these places, are the same.
bool match(const Signature &own, int ownPlace, const Signature &peer, int peerPlace);

// Describes an operation as "all_reduce #7 (sum, f32, 4096 elements)". Ranks in the text are global ranks.
std::string describe(const Signature &signature, const Group &group);

// Describes a group as "{0, 1, 2}".
std::string describe(const Group &group);

} // namespace braid
#endif // BRAID_COMM_OPERATION_H
