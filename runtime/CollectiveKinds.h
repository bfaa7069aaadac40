//===- CollectiveKinds.h - properties of each collective ------------------===//
//
// One row for each br_collective.  The compiler reads it (the comm dialect, costs, the
// interpreter), and so does the runtime (checks, transports, the emulated link).  In the rows, n is
// the number of ranks of the group, and K the bytes of the whole tensors.
//
// A rank sends or receives a whole tensor, one block of it, or the blocks of all ranks, which make
// up the whole tensor:
//
//   all_gather sends a block and receives all blocks,
//   scatter sends all blocks from the root, and receives a block,
//   all_to_all sends all blocks, one to each rank, and receives one from each.
//
// Bytes and messages are counted for the busiest rank in the best known algorithms for long
// messages (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
// MPICH, 2005).  These have one or two phases of n-1 messages around a ring, which move K (n-1)/n
// bytes.  An all_reduce is a reduce_scatter and an all_gather; a broadcast is a scatter and an
// all_gather; a reduce is a reduce_scatter and a gather.  A transfer is one message of K bytes; no
// algorithm needs fewer.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COLLECTIVEKINDS_H
#define BRAID_COLLECTIVEKINDS_H

#include "braid_collective.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace braid {

// How an operation names ranks with a special part, by their numbers in the group: one root for all
// ranks, the peer of a transfer, or pairs of a source and a target.
enum class Naming { None, Root, Peer, Pairs };

// Ranks of the group that send or receive; Sources are the sources of pairs.
enum class Participants { Nobody, Everyone, Root, Sources };

enum class Form { Whole, Block, Blocks };

struct Side {
  Participants participants;
  Form form = Form::Whole;
};

// How the received memory may overlap the sent memory: never, at the same address (send == recv),
// or as a block at its place in the whole tensor.
enum class InPlace { Never, Same, BlockInWhole };

struct CollectiveKind {
  br_collective kind;
  std::string_view name; // name of the comm op, also in messages
  Naming naming;
  bool reduces;
  Side sent, received;
  bool resultsAgree; // whether all ranks receive the same data
  int phases;        // 0 for a transfer
  InPlace inPlace;

  constexpr bool hasRoot() const { return naming == Naming::Root; }
  constexpr bool hasPeer() const { return naming == Naming::Peer; }
  constexpr bool isTransfer() const { return phases == 0; }
  constexpr bool movesNothing() const {
    return sent.participants == Participants::Nobody && received.participants == Participants::Nobody;
  }

  constexpr int64_t messages(int64_t ranks) const { return isTransfer() ? 1 : phases * (ranks - 1); }
  // Bytes that the busiest rank sends; `bytes` is the size of the whole tensors, padded to equal
  // blocks if they are split.
  constexpr int64_t bytesSent(int64_t bytes, int64_t ranks) const {
    return isTransfer() ? bytes : phases * (bytes - bytes / ranks);
  }
};

inline constexpr int collectiveKindCount = BR_BARRIER + 1;

// clang-format off
inline constexpr auto collectiveKinds = [] {
  using enum Participants;
  using enum Form;
  using enum InPlace;
  return std::array<CollectiveKind, collectiveKindCount>{{
    // kind, name, naming, reduces, sent, received, results agree, phases, in place
    {BR_ALL_REDUCE,     "all_reduce",     Naming::None,  true,  {Everyone},         {Everyone},         true,  2, Same},
    {BR_REDUCE_SCATTER, "reduce_scatter", Naming::None,  true,  {Everyone, Blocks}, {Everyone, Block},  false, 1, BlockInWhole},
    {BR_ALL_GATHER,     "all_gather",     Naming::None,  false, {Everyone, Block},  {Everyone, Blocks}, true,  1, BlockInWhole},
    {BR_ALL_TO_ALL,     "all_to_all",     Naming::None,  false, {Everyone, Blocks}, {Everyone, Blocks}, false, 1, Never},
    {BR_BROADCAST,      "broadcast",      Naming::Root,  false, {Root},             {Everyone},         true,  2, Same},
    {BR_REDUCE,         "reduce",         Naming::Root,  true,  {Everyone},         {Root},             false, 2, Same},
    {BR_GATHER,         "gather",         Naming::Root,  false, {Everyone, Block},  {Root, Blocks},     false, 1, BlockInWhole},
    {BR_SCATTER,        "scatter",        Naming::Root,  false, {Root, Blocks},     {Everyone, Block},  false, 1, BlockInWhole},
    {BR_PERMUTE,        "permute",        Naming::Pairs, false, {Sources},          {Everyone},         false, 0, Never},
    {BR_SEND,           "send",           Naming::Peer,  false, {Everyone},         {Nobody},           false, 0, Never},
    {BR_RECV,           "recv",           Naming::Peer,  false, {Nobody},           {Everyone},         false, 0, Never},
    {BR_BARRIER,        "barrier",        Naming::None,  false, {Nobody},           {Nobody},           false, 0, Never},
  }};
}();
// clang-format on

static_assert(
    [] {
      for (int i = 0; i < collectiveKindCount; ++i)
        if (collectiveKinds[i].kind != i)
          return false;
      return true;
    }(),
    "a row for each br_collective, in its order");

// Returns the row of a kind; `kind` must be a br_collective.
constexpr const CollectiveKind &rowOf(int kind) { return collectiveKinds[kind]; }

// Returns the row of a comm op.  An unknown name reads past the end of the table, which does not
// compile.
consteval const CollectiveKind &rowNamed(std::string_view name) {
  int kind = 0;
  while (collectiveKinds[kind].name != name)
    ++kind;
  return collectiveKinds[kind];
}

} // namespace braid
#endif // BRAID_COLLECTIVEKINDS_H
