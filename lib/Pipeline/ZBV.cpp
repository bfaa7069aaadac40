//===- ZBV.cpp - zero bubble with stages in a V ---------------------------===//
//
// Qi et al. 2024, Pipeline Parallelism with Controllable Memory (arXiv:2405.15362), and Zero
// Bubble Pipeline Parallelism (arXiv:2401.10241), section 6.  Each rank has two stages: r and
// 2p-1-r.  A microbatch goes from rank 0 to rank p-1, which has the two middle stages, and
// back to rank 0. Its loss is there, and its gradient starts there at once.  This is the order
// of PyTorch's ScheduleZBVZeroBubble.
//
// Only the start is idle: rank r waits for r forwards.  The order needs at least 2p-1
// microbatches; with fewer, the places of the missing ones are gaps.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/RowBuilder.h"

using namespace braid::pipeline;

namespace {

/// Builds the row of a rank with its two stages, one on the way there and one on the way back.
class VRowBuilder {
public:
  VRowBuilder(Shape shape, unsigned rank)
      : p(shape.ranks), rank(rank), microbatches(std::max(2 * p - 1, shape.microbatches)),
        row({rank, 2 * p - 1 - rank}, shape.microbatches) {}

  Table::Row build() {
    warmUp();
    repeat();
    coolDown();
    return row.finishRow();
  }

private:
  static constexpr unsigned kOutwardChunk = 0, kReturnChunk = 1;
  void forward(unsigned chunk) { row.add(Action::Forward, chunk); }
  void gradient(unsigned chunk) { row.add(Action::InputGradient, chunk); }
  void weights(unsigned chunk) { row.add(Action::WeightGradient, chunk); }
  void backward(unsigned chunk) {
    gradient(chunk);
    weights(chunk);
  }
  void weightsLeft(unsigned chunk) {
    while (row.count(Action::WeightGradient, chunk) < microbatches)
      weights(chunk);
  }

  void warmUp() {
    for (unsigned i = 0; i < 2 * (p - rank) - 1; ++i)
      forward(kOutwardChunk);
    for (unsigned i = 0; i < rank; ++i) {
      forward(kReturnChunk);
      forward(kOutwardChunk);
    }
    for (unsigned i = 0; i < p - rank; ++i) {
      forward(kReturnChunk);
      backward(kReturnChunk);
    }
  }

  void repeat() {
    while (row.count(Action::Forward, kReturnChunk) < microbatches) {
      if (row.count(Action::Forward, kOutwardChunk) < microbatches)
        forward(kOutwardChunk);
      backward(kOutwardChunk);
      forward(kReturnChunk);
      backward(kReturnChunk);
    }
  }

  /// Runs the gradients that other ranks wait for first.
  void coolDown() {
    for (unsigned i = 0; i < rank; ++i) {
      gradient(kOutwardChunk);
      gradient(kReturnChunk);
    }
    for (unsigned i = 0; i < p - rank; ++i)
      backward(kOutwardChunk);
    weightsLeft(kReturnChunk);
    weightsLeft(kOutwardChunk);
  }

  unsigned p, rank;
  /// At least 2p-1; the row leaves out microbatches that do not exist.
  unsigned microbatches;
  RowBuilder row;
};

} // namespace

static Table makeZBVTable(Shape shape) {
  return tableOf(shape, [&](unsigned rank) { return VRowBuilder(shape, rank).build(); });
}

static Formulas formulasOfZBV(Shape shape) {
  uint64_t p = shape.ranks, m = shape.microbatches;
  return {{p - 1, 6 * m + p - 1}, {p, 1}, 2 * shape.ranks - 1};
}

const Generator &braid::pipeline::zbV() {
  static const Generator generator = {
      "zb-v",      "zero bubble on stages that go there and back", 2, 2, false, "(p-1)/(6m+p-1)", "p", formulasOfZBV,
      makeZBVTable};
  return generator;
}
