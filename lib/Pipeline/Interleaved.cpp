//===- Interleaved.cpp - 1F1B with several stages on each rank ------------===//
//
// Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters Using
// Megatron-LM (arXiv:2104.04473), section 2.2.  Stage s is on rank s mod p, so a microbatch
// goes round the ranks v times, and each wait is for a v-th of a microbatch instead of a whole
// one. Microbatches come in groups of p: the first stage of a rank runs a group, then the
// second stage runs it, and so on; backwards begin with the last stage.
//
// Rank r runs (v-1)p + 2(p-1-r) forwards ahead.  So rank 0 holds vp+p-1 microbatches of stages,
// which is p+(p-1)/v whole microbatches, if there are more than p microbatches.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/RowBuilder.h"

using namespace braid::pipeline;

static Table::Row rowOf(Shape shape, unsigned rank) {
  unsigned p = shape.ranks, v = shape.chunks, total = shape.microbatches * v;
  std::vector<unsigned> stages;
  for (unsigned chunk = 0; chunk < v; ++chunk)
    stages.push_back(chunk * p + rank);
  RowBuilder row(stages, shape.microbatches);
  unsigned forwards = 0, backwards = 0;
  auto forward = [&] { row.add(Action::Forward, forwards++ / p % v); };
  auto backward = [&] { row.add(Action::Backward, v - 1 - backwards++ / p % v); };
  unsigned ahead = std::min((v - 1) * p + 2 * (p - 1 - rank), total);
  while (forwards < ahead)
    forward();
  while (forwards < total) {
    forward();
    backward();
  }
  while (backwards < total)
    backward();
  return row.finishRow();
}

static Table makeInterleavedTable(Shape shape) {
  return tableOf(shape, [&](unsigned rank) { return rowOf(shape, rank); });
}

static Formulas formulasOfInterleaved(Shape shape) {
  uint64_t p = shape.ranks, m = shape.microbatches, v = shape.chunks;
  return {{p - 1, v * m + p - 1}, {v * p + p - 1, v}, p == 1 ? 1 : 2 * shape.ranks};
}

const Generator &braid::pipeline::interleaved() {
  static const Generator generator = {"interleaved",
                                      "1f1b with several stages on each rank",
                                      0,
                                      2,
                                      true,
                                      "(p-1)/(vm+p-1)",
                                      "p+(p-1)/v",
                                      formulasOfInterleaved,
                                      makeInterleavedTable};
  return generator;
}
