//===- Context.h - what br_context is
//---------------------------------------===//
//
// The state that a running model needs from the runtime: its memory, its
// threads, its chosen matmul implementations and its place among ranks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CONTEXT_H
#define BRAID_CORE_CONTEXT_H

#include "braid_rt.h"
#include "core/Arena.h"
#include "core/Collectives.h"
#include "cpu/Matmul.h"

struct br_context {
  br_context(const br_model &model, int threads, const braid::Rank &rank = {})
      : threads(threads), rank(rank), arena(model.arena_bytes, threads),
        matmuls(model, threads, arena.data()),
        collectives(model, arena.data(), rank) {}

  int threads;
  braid::Rank rank;
  braid::Arena arena;
  braid::MatmulTable matmuls;
  braid::Collectives collectives;
};

#endif // BRAID_CORE_CONTEXT_H
