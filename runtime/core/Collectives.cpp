//===- Collectives.cpp - the collectives of a compiled model --------------===//

#include "core/Collectives.h"

#include "base/Error.h"
#include "comm/Communicator.h"
#include "comm/ThreadsTransport.h"
#include "core/Mesh.h"

#include <algorithm>

using namespace braid;

namespace {

// The communicator's numbers of the groups that this rank is in, by kind.  Every
// rank makes all groups, in the same order.
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

Collectives::Collectives(const br_model &model, std::byte *arena, const Rank &rank) : comm(rank.comm) {
  if (model.n_collectives == 0)
    return;
  if (!comm) {
    // Nobody else to wait for: the time-out cannot pass.
    own.reset(new br_comm(threadsTransport(std::make_shared<ThreadsHub>(1), 0),
                          /*timeout=*/60));
    comm = own.get();
  }
  std::vector<int32_t> groups = makeGroups(model, rank.number, comm);
  for (int32_t i = 0; i < model.n_collectives; ++i)
    add(model, arena, model.collectives[i], groups[model.collectives[i].group]);
}

// How far a place is from that in the first slot; 0 if it is in none.
static int64_t slotOffset(const br_model &model, int32_t slots, int32_t microbatch) {
  return slots == 0 ? 0 : model.slots[slots - 1].of_microbatch[microbatch] * model.slots[slots - 1].bytes;
}

void Collectives::add(const br_model &model, std::byte *arena, const br_collective_desc &d, int32_t group) {
  int32_t microbatches = 1;
  for (int32_t s = 0; s < d.n_segments; ++s)
    for (int32_t slots : {d.segments[s].send_slots, d.segments[s].recv_slots})
      if (slots != 0)
        microbatches = model.slots[slots - 1].n_microbatches;
  std::vector<Variant> &its = variants.emplace_back(microbatches);
  for (int32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    Variant &variant = its[microbatch];
    for (int32_t s = 0; s < d.n_segments; ++s) {
      const br_segment_desc &part = d.segments[s];
      variant.segments.push_back({arena + part.send + slotOffset(model, part.send_slots, microbatch),
                                  arena + part.recv + slotOffset(model, part.recv_slots, microbatch), part.count,
                                  part.send_rows, part.recv_rows});
    }
    variant.operation = {d.kind,      d.reduction, d.dtype, group, d.root, d.pairs, d.n_pairs, variant.segments.data(),
                         d.n_segments};
    variant.ticket = 0;
  }
}

void Collectives::EndCommunicator::operator()(br_comm *comm) const { delete comm; }

br_status Collectives::start(int32_t index, int32_t microbatch) {
  auto &variant = const_cast<Variant &>(variantOf(index, microbatch));
  return br_comm_start(comm, &variant.operation, &variant.ticket);
}

br_status Collectives::wait(int32_t index, int32_t microbatch) {
  return br_comm_wait(comm, variantOf(index, microbatch).ticket);
}
