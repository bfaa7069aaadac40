//===- OneForwardOneBackward.cpp - 1F1B: backwards as early as possible ---===//
//
// PipeDream-Flush (Narayanan et al. 2020, arXiv:2006.09503; 1F1B in Megatron-LM).  Rank r runs
// p-1-r forwards ahead, then alternates between a forward and a backward, then runs the
// remaining backwards.  Three ranks, four microbatches:
//
//   F0 F1 F2 .. .. .. .. B0--- F3 B1--- .. B2--- .. B3---
//   .. F0 F1 .. .. B0--- F2 B1--- F3 B2--- .. B3--- .. ..
//   .. .. F0 B0--- F1 B1--- F2 B2--- F3 B3--- .. .. .. ..
//
// The idle time is the same as with GPipe, but rank r holds only p-r microbatches.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/RowBuilder.h"

using namespace braid::pipeline;

static Table makeOneForwardOneBackwardTable(Shape shape) {
  return tableOf(shape, [&](unsigned rank) {
    RowBuilder row({rank}, shape.microbatches);
    for (unsigned i = 0; i < shape.ranks - 1 - rank; ++i)
      row.add(Action::Forward);
    for (unsigned i = 0; i < shape.microbatches; ++i) {
      row.add(Action::Forward);
      row.add(Action::Backward);
    }
    return row.finishRow();
  });
}

static Formulas formulasOfOneForwardOneBackward(Shape shape) {
  uint64_t p = shape.ranks, m = shape.microbatches;
  return {{p - 1, m + p - 1}, {p, 1}, shape.ranks};
}

const Generator &braid::pipeline::oneForwardOneBackward() {
  static const Generator generator = {"1f1b",
                                      "one forward and one backward in turn, after a warm-up",
                                      1,
                                      1,
                                      false,
                                      "(p-1)/(m+p-1)",
                                      "p",
                                      formulasOfOneForwardOneBackward,
                                      makeOneForwardOneBackwardTable};
  return generator;
}
