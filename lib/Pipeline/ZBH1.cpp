//===- ZBH1.cpp - 1F1B with weight gradients in the bubble ----------------===//
//
// Qi et al. 2023, Zero Bubble Pipeline Parallelism (arXiv:2401.10241), section 2.3.  1F1B with
// separate I and W, so that a gradient is passed on before the weights' own are computed.
// Rank r starts its W's r microbatches late, when the ranks before it are waiting for
// gradients and hold p microbatches; so it holds p, too.  Three ranks, four microbatches:
//
//   F0 F1 F2 .. .. I0 W0 F3 I1 W1 I2 W2 I3 W3
//   .. F0 F1 .. I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
//   .. .. F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
//
// The remaining idle time is p-1 times I, a third of 1F1B's.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/RowBuilder.h"

using namespace braid::pipeline;

static Table::Row rowOf(Shape shape, unsigned rank) {
  RowBuilder row({rank}, shape.microbatches);
  for (unsigned i = 0; i < shape.ranks - 1 - rank; ++i)
    row.add(Action::Forward);
  for (unsigned i = 0; i < shape.microbatches; ++i) {
    row.add(Action::Forward);
    row.add(Action::InputGradient);
    if (i >= rank)
      row.add(Action::WeightGradient);
  }
  while (row.count(Action::WeightGradient) < shape.microbatches)
    row.add(Action::WeightGradient);
  return row.finishRow();
}

static Table makeZBH1Table(Shape shape) {
  return tableOf(shape, [&](unsigned rank) { return rowOf(shape, rank); });
}

static Formulas formulasOfZBH1(Shape shape) {
  uint64_t p = shape.ranks, m = shape.microbatches;
  return {{p - 1, 3 * m + p - 1}, {p, 1}, shape.ranks};
}

const Generator &braid::pipeline::zbH1() {
  static const Generator generator = {
      "zb-h1",      "1f1b whose weights' gradients fill the bubble", 1, 1, false, "(p-1)/(3m+p-1)", "p", formulasOfZBH1,
      makeZBH1Table};
  return generator;
}
