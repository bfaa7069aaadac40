//===- Generators.h - schedules that are known by name ----------*- C++ -*-===//
//
// A Generator says of a family of schedules how its table is made and, by formulas, what it
// costs.  Each has a file of its own, with the source that it is from.  A new one is a file, a
// declaration and a line in Generators.cpp.
//
// Formulas are for stages that take equally long, with F = I = W (B takes both) and messages
// that take no time; p ranks, m microbatches, v stages on each rank (chunks).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_GENERATORS_H
#define BRAID_LIB_PIPELINE_GENERATORS_H

#include "lib/Pipeline/Schedule.h"
#include "llvm/ADT/ArrayRef.h"

namespace braid::pipeline {

struct Shape {
  unsigned ranks = 1, microbatches = 1;
  /// Stages on each rank.
  unsigned chunks = 1;
};

struct Ratio {
  uint64_t over, under;
  double value() const { return static_cast<double>(over) / static_cast<double>(under); }
};

struct Formulas {
  /// The share of all ranks' time in which they are idle.
  Ratio bubble;
  /// The most microbatches that a rank holds, of all its stages together.
  Ratio peak;
  /// From so many microbatches on these hold.
  unsigned leastMicrobatches;
};

struct Generator {
  llvm::StringRef name, summary;
  /// The chunks that it takes; 0 if any number.
  unsigned chunks;
  /// Those that it gets if nobody says.
  unsigned usualChunks;
  /// Whether the number of microbatches must be one of its ranks times something.
  bool takesRounds;
  /// The formulas as text, and their values.
  llvm::StringRef bubbleFormula, peakFormula;
  Formulas (*formulas)(Shape shape);
  Table (*make)(Shape shape);
};

const Generator &gpipe();
const Generator &oneForwardOneBackward();
const Generator &interleaved();
const Generator &zbH1();
const Generator &zbV();

/// All of them.
llvm::ArrayRef<const Generator *> generators();
/// Null if there is none of this name.
const Generator *findGenerator(llvm::StringRef name);

/// Whether there is such a schedule; if not, the error says which numbers would do.
llvm::Error check(const Generator &generator, Shape shape);
/// Makes and verifies it.
llvm::Expected<Schedule> generate(const Generator &generator, Shape shape);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_GENERATORS_H
