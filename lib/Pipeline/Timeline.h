//===- Timeline.h - a simulated schedule as a picture -----------*- C++ -*-===//
#ifndef BRAID_LIB_PIPELINE_TIMELINE_H
#define BRAID_LIB_PIPELINE_TIMELINE_H

#include "lib/Pipeline/Simulate.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::pipeline {

/// For each stage, which of its rank's stages it is.
std::vector<unsigned> chunksOf(const Schedule &schedule);

/// A line for each rank, `width` columns at most for its time.  A cell is called 1F3 or F3 where
/// there is room, else by its letter, which is small for a rank's second stage, its fourth and so
/// on; dots are idle.  Ranks from `mostRanks` on are left out.
void printTimeline(const Schedule &schedule, const Simulation &simulation, unsigned width, unsigned mostRanks,
                   llvm::raw_ostream &os);

/// The most cells of a drawing.
inline constexpr size_t kMaxDrawnCells = 100'000;

/// A drawing as SVG, below the caption; a cell's tooltip says when it is.
llvm::Error writeSvg(const Schedule &schedule, const Simulation &simulation, llvm::StringRef caption,
                     llvm::raw_ostream &os);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_TIMELINE_H
