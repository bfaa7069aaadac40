//===- GeneratorsTest.cpp - schedules that are known by name --------------===//
//
// Times are whole numbers, so results are exact.
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "lib/Pipeline/Slots.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace braid::pipeline;

/// Calls `visit` with the shapes of 1 to 9 ranks that the generator accepts.
static void forShapes(const Generator &generator, llvm::function_ref<void(Shape)> visit) {
  unsigned shapes = 0;
  for (unsigned ranks = 1; ranks <= 9; ++ranks)
    for (unsigned chunks = 1; chunks <= 4; ++chunks)
      for (unsigned microbatches = 1; microbatches <= 4 * ranks + 1; ++microbatches) {
        Shape shape = {ranks, microbatches, chunks};
        if (llvm::Error error = check(generator, shape)) {
          llvm::consumeError(std::move(error));
          continue;
        }
        ++shapes;
        SCOPED_TRACE(generator.name.str() + " on " + std::to_string(ranks) + " ranks, " + std::to_string(microbatches) +
                     " microbatches, " + std::to_string(chunks) + " chunks");
        visit(shape);
      }
  EXPECT_GT(shapes, 50u);
}

TEST(Generators, FormulasHoldExactly) {
  for (const Generator *generator : generators())
    forShapes(*generator, [&](Shape shape) {
      Formulas formulas = generator->formulas(shape);
      if (shape.microbatches < formulas.minMicrobatches)
        return;
      Schedule schedule = scheduleOf(generate(*generator, shape));
      Simulation simulation = simulate(schedule, uniform(schedule));
      uint64_t whole = uint64_t(simulation.end) * shape.ranks, idle = whole;
      for (double busy : simulation.busy)
        idle -= uint64_t(busy);
      EXPECT_EQ(idle * formulas.bubble.denominator, whole * formulas.bubble.numerator);
      EXPECT_DOUBLE_EQ(simulation.bubble, formulas.bubble.value());
      std::vector<unsigned> peaks = peakHeldMicrobatches(schedule);
      EXPECT_EQ(uint64_t(*llvm::max_element(peaks)) * formulas.peak.denominator,
                formulas.peak.numerator * shape.chunks);
    });
}

/// The bubbles of gpipe, 1f1b and interleaved depend on m alone, their peaks never exceed the formula.
TEST(Generators, WithFewMicrobatchesNoMoreIsHeld) {
  for (const Generator *generator : generators())
    forShapes(*generator, [&](Shape shape) {
      Formulas formulas = generator->formulas(shape);
      Schedule schedule = scheduleOf(generate(*generator, shape));
      bool waitsForMicrobatches = llvm::is_contained({"zb-h1", "zb-v"}, generator->name);
      for (unsigned peak : peakHeldMicrobatches(schedule)) {
        EXPECT_LE(peak, shape.microbatches * shape.chunks);
        EXPECT_LE(uint64_t(peak) * formulas.peak.denominator, formulas.peak.numerator * shape.chunks);
      }
      double bubble = simulate(schedule, uniform(schedule)).bubble;
      EXPECT_TRUE(waitsForMicrobatches ? bubble >= formulas.bubble.value() : bubble == formulas.bubble.value());
    });
}

TEST(Generators, EachRankHoldsWhatIsKnownOfIt) {
  EXPECT_EQ(peakHeldMicrobatches(scheduleOf("gpipe", 4, 9)), (std::vector<unsigned>{9, 9, 9, 9}));
  EXPECT_EQ(peakHeldMicrobatches(scheduleOf("1f1b", 4, 9)), (std::vector<unsigned>{4, 3, 2, 1}));
  EXPECT_EQ(peakHeldMicrobatches(scheduleOf("zb-h1", 4, 9)), (std::vector<unsigned>{4, 4, 4, 4}));
  EXPECT_EQ(peakHeldMicrobatches(scheduleOf("interleaved", 4, 8, 2)), (std::vector<unsigned>{11, 9, 7, 5}));
  EXPECT_EQ(peakHeldMicrobatches(scheduleOf("zb-v", 4, 9, 2)), (std::vector<unsigned>{8, 8, 8, 8}));
}

TEST(Generators, StagesLieWhereTheyShould) {
  Schedule loop = scheduleOf("interleaved", 3, 3, 2), v = scheduleOf("zb-v", 3, 5, 2);
  std::vector<unsigned> ofLoop, ofV;
  for (unsigned stage = 0; stage < 6; ++stage) {
    ofLoop.push_back(loop.rankOf(stage));
    ofV.push_back(v.rankOf(stage));
  }
  EXPECT_EQ(ofLoop, (std::vector<unsigned>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(ofV, (std::vector<unsigned>{0, 1, 2, 2, 1, 0}));
}

TEST(Generators, AlignedCellsStandBehindTheirInputs) {
  for (const Generator *generator : generators()) {
    Schedule schedule = scheduleOf(generate(*generator, {4, 8, generator->defaultChunks}));
    for (const Table::Row &row : schedule.getTable().rows) {
      std::set<unsigned> steps;
      for (const Cell &cell : row) {
        EXPECT_TRUE(steps.insert(cell.step).second);
        EXPECT_EQ(cell.step, *steps.rbegin());
        for (Place input : schedule.inputsOf(cell))
          EXPECT_LT(schedule.at(input).step, cell.step);
      }
    }
  }
}

TEST(Generators, ZeroBubbleIsIdleOnlyWhereItMustBe) {
  // Qi et al. 2023: ZB-H1 is idle for (p-1)(F + I - W).
  Schedule schedule = scheduleOf("zb-h1", 6, 30);
  for (double weightGradient : {4, 5, 6}) {
    StageTimes times = {.forward = 6, .inputGradient = 6, .weightGradient = weightGradient};
    double alone = 30 * (12 + weightGradient);
    EXPECT_EQ(simulate(schedule, uniform(schedule, times)).end, alone + 5 * (12 - weightGradient));
  }
}

static std::string refusal(llvm::StringRef name, Shape shape) {
  return llvm::toString(check(*findGenerator(name), shape));
}

TEST(Generators, SayWhatTheyNeed) {
  EXPECT_EQ(refusal("gpipe", {0, 1, 1}),
            "gpipe needs at least 1 rank, 1 microbatch and 1 chunk a rank, not 0, 1 and 1");
  EXPECT_EQ(refusal("1f1b", {4, 8, 2}), "1f1b has 1 chunk a rank, not 2; interleaved takes any number");
  EXPECT_EQ(refusal("zb-v", {4, 8, 1}), "zb-v has 2 chunks a rank, not 1");
  EXPECT_EQ(refusal("interleaved", {8, 30, 2}),
            "interleaved on 8 ranks needs a multiple of 8 as number of microbatches: 24 or 32 instead of 30");
  EXPECT_EQ(refusal("interleaved", {8, 3, 2}),
            "interleaved on 8 ranks needs a multiple of 8 as number of microbatches: 8 instead of 3");
  EXPECT_EQ(refusal("gpipe", {1024, 1025, 1}), "1025 microbatches for 1024 stages are too many: a schedule has at most "
                                               "1048576 pairs of a stage and a microbatch");
  EXPECT_EQ(refusal("interleaved", {~0u, ~0u, ~0u}).substr(0, 12), "4294967295 m");
}
