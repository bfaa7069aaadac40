//===- GPipe.cpp - all forwards, then all backwards -----------------------===//
//
// Huang et al. 2019, GPipe: Efficient Training of Giant Neural Networks using Pipeline
// Parallelism (arXiv:1811.06965).  Three ranks, four microbatches:
//
//   F0 F1 F2 F3 .. .. .. .. .. .. B0--- B1--- B2--- B3---
//   .. F0 F1 F2 F3 .. .. .. B0--- B1--- B2--- B3--- .. ..
//   .. .. F0 F1 F2 F3 B0--- B1--- B2--- B3--- .. .. .. ..
//
// A rank is idle for p-1 times an F and p-1 times a B, and holds all microbatches.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/RowBuilder.h"

using namespace braid::pipeline;

static Table makeGPipeTable(Shape shape) {
  return tableOf(shape, [&](unsigned rank) {
    RowBuilder row({rank}, shape.microbatches);
    for (Action action : {Action::Forward, Action::Backward})
      for (unsigned i = 0; i < shape.microbatches; ++i)
        row.add(action);
    return row.finishRow();
  });
}

static Formulas formulasOfGPipe(Shape shape) {
  uint64_t p = shape.ranks, m = shape.microbatches;
  return {{p - 1, m + p - 1}, {m, 1}, 1};
}

const Generator &braid::pipeline::gpipe() {
  static const Generator generator = {
      "gpipe", "all forwards, then all backwards", 1, 1, false, "(p-1)/(m+p-1)", "m", formulasOfGPipe, makeGPipeTable};
  return generator;
}
