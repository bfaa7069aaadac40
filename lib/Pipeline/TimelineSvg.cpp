//===- TimelineSvg.cpp - a simulated schedule as a drawing ----------------===//

#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Timeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace braid::pipeline;

// Sizes in pixels.
static constexpr double kLeft = 64, kTop = 64, kRow = 28, kGap = 4, kBottom = 36, kCell = 22, kMaxWidth = 4000,
                        kMinWidth = 480;
static constexpr unsigned kTicks = 12;

static const char *const kStyle = R"(<style>
  text { font: 12px sans-serif; fill: #222; }
  .cell { stroke: #fff; stroke-width: 0.5; }
  .label { font-size: 11px; text-anchor: middle; fill: #fff; pointer-events: none; }
  .tick { text-anchor: middle; fill: #666; }
  .idle { fill: #eee; }
  .F { fill: #3f72af; } .B { fill: #c8553d; } .I { fill: #d9822b; } .W { fill: #4a8f4f; }
  .odd { fill-opacity: 0.65; }
</style>
)";

namespace {

class Drawing {
public:
  Drawing(const Schedule &schedule, const Simulation &simulation, llvm::raw_ostream &os);
  void draw(llvm::StringRef caption);

private:
  void drawLegend();
  void drawRow(unsigned rank);
  void drawCell(Place place);
  void drawTicks();

  double x(double time) const { return kLeft + time * scale; }
  double y(unsigned rank) const { return kTop + rank * (kRow + kGap); }
  static llvm::format_object<double> pixels(double value) { return llvm::format("%.2f", value); }

  const Schedule &schedule;
  const Simulation &simulation;
  llvm::raw_ostream &os;
  std::vector<unsigned> chunks;
  /// Pixels per unit of time.
  double scale;
};

} // namespace

Drawing::Drawing(const Schedule &schedule, const Simulation &simulation, llvm::raw_ostream &os)
    : schedule(schedule), simulation(simulation), os(os), chunks(chunksOf(schedule)) {
  double shortest = simulation.end;
  for (const auto &row : simulation.spans)
    for (const Span &span : row)
      if (span.end > span.begin)
        shortest = std::min(shortest, span.end - span.begin);
  scale = std::clamp(kCell * simulation.end / shortest, kMinWidth, kMaxWidth) / simulation.end;
}

void Drawing::drawLegend() {
  double at = kLeft;
  for (auto [action, meaning] : {std::pair('F', "forward"), std::pair('B', "whole backward"),
                                 std::pair('I', "input gradient"), std::pair('W', "weight gradient")}) {
    os << "<rect class=\"" << action << "\" x=\"" << pixels(at) << "\" y=\"34\" width=\"14\" height=\"14\"/>"
       << "<text x=\"" << pixels(at + 19) << "\" y=\"45\">" << meaning << "</text>\n";
    at += 136;
  }
}

/// Draws a cell, labeled with its microbatch; every second stage of a rank is brighter.
void Drawing::drawCell(Place place) {
  const Cell &cell = schedule.at(place);
  const Span &span = simulation.spans[place.rank][place.index];
  double width = (span.end - span.begin) * scale;
  os << "<g><title>" << cell.str() << ": " << llvm::format("%g to %g", span.begin, span.end) << "</title>"
     << "<rect class=\"cell " << letterOf(cell.action) << (chunks[cell.stage] % 2 ? " odd" : "") << "\" x=\""
     << pixels(x(span.begin)) << "\" y=\"" << pixels(y(place.rank)) << "\" width=\"" << pixels(width) << "\" height=\""
     << pixels(kRow) << "\"/>";
  std::string label = std::to_string(cell.microbatch);
  if (width >= 7 * label.size() + 4)
    os << "<text class=\"label\" x=\"" << pixels(x(span.begin) + width / 2) << "\" y=\"" << pixels(y(place.rank) + 18)
       << "\">" << label << "</text>";
  os << "</g>\n";
}

void Drawing::drawRow(unsigned rank) {
  os << "<text x=\"8\" y=\"" << pixels(y(rank) + 18) << "\">rank " << rank << "</text>"
     << "<rect class=\"idle\" x=\"" << pixels(kLeft) << "\" y=\"" << pixels(y(rank)) << "\" width=\""
     << pixels(simulation.end * scale) << "\" height=\"" << pixels(kRow) << "\"/>\n";
  for (unsigned index = 0; index < simulation.spans[rank].size(); ++index)
    drawCell({rank, index});
}

/// Draws at most kTicks ticks. Their distance is 1, 2 or 5 times a power of ten.
void Drawing::drawTicks() {
  double decade = std::pow(10, std::floor(std::log10(simulation.end / kTicks))), step = decade;
  for (double factor : {2, 5, 10})
    if (step * kTicks < simulation.end)
      step = factor * decade;
  for (unsigned tick = 0; tick * step <= simulation.end; ++tick)
    os << "<text class=\"tick\" x=\"" << pixels(x(tick * step)) << "\" y=\"" << pixels(y(schedule.numRanks()) + 18)
       << "\">" << llvm::format("%g", tick * step) << "</text>\n";
}

void Drawing::draw(llvm::StringRef caption) {
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << pixels(x(simulation.end) + kLeft / 2) << "\" height=\""
     << pixels(y(schedule.numRanks()) + kBottom) << "\">\n"
     << kStyle << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"20\">";
  llvm::printHTMLEscaped(caption, os);
  os << "</text>\n";
  drawLegend();
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    drawRow(rank);
  drawTicks();
  os << "</svg>\n";
}

llvm::Error braid::pipeline::writeSvg(const Schedule &schedule, const Simulation &simulation, llvm::StringRef caption,
                                      llvm::raw_ostream &os) {
  size_t cells = 0;
  for (const Table::Row &row : schedule.getTable().rows)
    cells += row.size();
  if (cells > kMaxDrawnCells)
    return failure("{0} cells are too many for a drawing, which has at most {1}", cells, kMaxDrawnCells);
  Drawing(schedule, simulation, os).draw(caption);
  return llvm::Error::success();
}
