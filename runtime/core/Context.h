//===- Context.h - what br_context is
//---------------------------------------===//
//
// The state that a running model needs from the runtime: its memory, its
// threads and its chosen matmul implementations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CONTEXT_H
#define BRAID_CORE_CONTEXT_H

#include "braid_rt.h"
#include "core/Arena.h"
#include "cpu/Matmul.h"

struct br_context {
  br_context(const br_model &model, int threads)
      : threads(threads), arena(model.arena_bytes, threads),
        matmuls(model, threads, arena.data()) {}

  int threads;
  braid::Arena arena;
  braid::MatmulTable matmuls;
};

#endif // BRAID_CORE_CONTEXT_H
