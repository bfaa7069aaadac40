//===- Timeline.h - a simulated schedule as a picture -----------*- C++ -*-===//
#ifndef BRAID_LIB_PIPELINE_TIMELINE_H
#define BRAID_LIB_PIPELINE_TIMELINE_H

#include "lib/Pipeline/Simulate.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::pipeline {

/// Returns for each stage its number among its rank's stages.
std::vector<unsigned> chunksOf(const Schedule &schedule);

/// Prints a line for each rank, at most `width` columns long. A cell is 1F3 or F3 if there is
/// room, else its letter, in lower case for a rank's second stage, its fourth and so on; dots are
/// idle. Leaves out ranks from `maxRanks` on.
void printTimeline(const Schedule &schedule, const Simulation &simulation, unsigned width, unsigned maxRanks,
                   llvm::raw_ostream &os);

/// Upper limit of cells in a drawing.
inline constexpr size_t kMaxDrawnCells = 100'000;

/// Writes an SVG drawing, below the caption; a cell's tooltip shows its times.
llvm::Error writeSvg(const Schedule &schedule, const Simulation &simulation, llvm::StringRef caption,
                     llvm::raw_ostream &os);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_TIMELINE_H
