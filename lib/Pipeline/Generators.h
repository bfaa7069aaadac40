//===- Generators.h - schedules with a name ---------------------*- C++ -*-===//
//
// A Generator describes a family of schedules: how to make its table and, by formulas, its
// cost. Each has its own file, which cites its source. A new generator needs a file, a
// declaration here and a line in Generators.cpp.
//
// The formulas assume stages of equal time, with F = I = W (B takes both), and messages that
// take no time; p ranks, m microbatches, v stages on each rank (chunks).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_GENERATORS_H
#define BRAID_LIB_PIPELINE_GENERATORS_H

#include "lib/Pipeline/Schedule.h"
#include "llvm/ADT/ArrayRef.h"

namespace braid::pipeline {

struct Shape {
  unsigned ranks = 1, microbatches = 1;
  /// Number of stages on each rank.
  unsigned chunks = 1;
};

struct Ratio {
  uint64_t numerator, denominator;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

struct Formulas {
  /// Idle share of the time of all ranks.
  Ratio bubble;
  /// Peak number of microbatches that a rank holds, over all its stages.
  Ratio peak;
  /// Smallest number of microbatches for which the formulas hold.
  unsigned minMicrobatches;
};

struct Generator {
  llvm::StringRef name, summary;
  /// Required number of chunks; 0 if any number works.
  unsigned chunks;
  /// Default number of chunks.
  unsigned defaultChunks;
  /// Whether the number of microbatches must be a multiple of the number of ranks.
  bool needsFullRounds;
  /// Formulas as text, and their values.
  llvm::StringRef bubbleFormula, peakFormula;
  Formulas (*formulas)(Shape shape);
  Table (*make)(Shape shape);
};

const Generator &gpipe();
const Generator &oneForwardOneBackward();
const Generator &interleaved();
const Generator &zbH1();
const Generator &zbV();

/// Returns all generators.
llvm::ArrayRef<const Generator *> generators();
/// Returns the generator with this name, or null.
const Generator *findGenerator(llvm::StringRef name);

/// Fails if there is no schedule of this shape; the error lists numbers that work.
llvm::Error check(const Generator &generator, Shape shape);
/// Makes and verifies the schedule.
llvm::Expected<Schedule> generate(const Generator &generator, Shape shape);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_GENERATORS_H
