//===- Collectives.cpp - the collectives of a compiled model --------------===//

#include "core/Collectives.h"

#include "base/Error.h"
#include "comm/Communicator.h"
#include "comm/ThreadsTransport.h"
#include "core/Mesh.h"

#include <algorithm>

using namespace braid;

namespace {

// Returns the communicator's number of this rank's group, for each kind.  Every rank makes all
// groups, in the same order.
std::vector<int32_t> makeGroups(const br_model &model, int number, br_comm *comm) {
  std::vector<int32_t> numbers(std::max(model.n_groups, 1), 0);
  for (int32_t kind = 1; kind < model.n_groups; ++kind)
    for (const std::vector<int32_t> &ranks : groupsOf(model, kind)) {
      int32_t group = 0;
      if (br_comm_group(comm, ranks.data(), static_cast<int32_t>(ranks.size()), &group) != BR_OK)
        fail(br_comm_error(comm));
      if (std::find(ranks.begin(), ranks.end(), number) != ranks.end())
        numbers[kind] = group;
    }
  return numbers;
}

} // namespace

Collectives::Collectives(const br_model &model, std::byte *arena, const Rank &rank)
    : comm(rank.comm), segments(model.n_collectives), tickets(model.n_collectives, 0) {
  if (model.n_collectives == 0)
    return;
  if (!comm) {
    // A single rank waits for no other rank, so the timeout cannot pass.
    own.reset(new br_comm(threadsTransport(std::make_shared<ThreadsHub>(1), 0),
                          /*timeout=*/60));
    comm = own.get();
  }
  std::vector<int32_t> groups = makeGroups(model, rank.number, comm);
  for (int32_t i = 0; i < model.n_collectives; ++i) {
    const br_collective_desc &d = model.collectives[i];
    for (int32_t s = 0; s < d.n_segments; ++s) {
      const br_segment_desc &part = d.segments[s];
      segments[i].push_back({arena + part.send, arena + part.recv, part.count, part.send_rows, part.recv_rows});
    }
    operations.push_back(
        {d.kind, d.reduction, d.dtype, groups[d.group], d.root, d.pairs, d.n_pairs, segments[i].data(), d.n_segments});
  }
}

void Collectives::EndCommunicator::operator()(br_comm *comm) const { delete comm; }

br_status Collectives::start(int32_t index) { return br_comm_start(comm, &operations[index], &tickets[index]); }

br_status Collectives::wait(int32_t index) { return br_comm_wait(comm, tickets[index]); }
