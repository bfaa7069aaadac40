//===- ProgressTest.cpp - the line that people see, and how often jobs save ===//

#include "train/Progress.h"
#include "train/ModelFlops.h"
#include "train/SaveInterval.h"

#include <gtest/gtest.h>

using namespace braid;

namespace {

const std::vector<ProgressField> kFields = {{"step 12345/20000", 0}, {"loss 2.3412", 0}, {"norm 1.23", 4},
                                            {"lr 6.00e-04", 6},      {"12.3k tok/s", 2}, {"1240 ms/step", 5},
                                            {"MFU 38.1%", 3},        {"2h 04m left", 1}};

TEST(Progress, fieldsGiveWayUntilTheLineFits) {
  EXPECT_EQ(fitLine(kFields, SIZE_MAX), "step 12345/20000  loss 2.3412  norm 1.23  lr 6.00e-04  12.3k tok/s  "
                                        "1240 ms/step  MFU 38.1%  2h 04m left");
  EXPECT_EQ(fitLine(kFields, 79), "step 12345/20000  loss 2.3412  norm 1.23  12.3k tok/s  MFU 38.1%  2h 04m left");
  EXPECT_EQ(fitLine(kFields, 50), "step 12345/20000  loss 2.3412  2h 04m left");
  for (size_t width = 1; width < 120; ++width)
    EXPECT_LE(fitLine(kFields, width).size(), width);
}

// Gaps are wider only if no field must be dropped for them.
TEST(Progress, gapsGiveWayBeforeFields) {
  EXPECT_EQ(fitLine({{"a", 0}, {"b", 1}}, 4), "a  b");
  EXPECT_EQ(fitLine({{"a", 0}, {"b", 1}}, 3), "a b");
  EXPECT_EQ(fitLine({{"a", 0}, {"b", 1}}, 2), "a");
}

TEST(SaveInterval, isANumberOfStepsOrATime) {
  EXPECT_EQ(parseSaveInterval("500")->steps, 500);
  EXPECT_EQ(parseSaveInterval("500")->seconds, 0);
  EXPECT_EQ(parseSaveInterval("0")->steps, 0);
  EXPECT_EQ(parseSaveInterval("0")->seconds, 0);
  EXPECT_EQ(parseSaveInterval("15m")->seconds, 900);
  EXPECT_EQ(parseSaveInterval("15m")->steps, 0);
  EXPECT_EQ(parseSaveInterval("90s")->seconds, 90);
  EXPECT_EQ(parseSaveInterval("1.5h")->seconds, 5400);
  for (const char *text : {"", "m", "-5", "-5m", "5 m", "15min", "nans", "infm", "0s", "1e9h", "1.5"})
    EXPECT_FALSE(parseSaveInterval(text)) << text;
}

// Three times the products of forward, each type at its rate. Without a known rate there is no share.
TEST(ModelFlops, areThoseOfForward) {
  const br_action_desc actions[] = {
      {"a", "matmul", "", "u", "forward", BR_F32, 100, 0, 0},
      {"b", "matmul", "", "u", "forward", BR_BF16, 1000, 0, 0},
      {"c", "matmul", "", "u", "backward", BR_BF16, 5000, 0, 0},
      {"d", "launch", "", "u", nullptr, BR_F32, 5000, 0, 0},
  };
  br_program programs[2] = {};
  programs[0].name = "train", programs[0].actions = actions, programs[0].n_actions = 4;
  programs[1].name = "accumulate", programs[1].actions = actions, programs[1].n_actions = 1;
  br_model model = {};
  model.programs = programs, model.n_programs = 2;
  EXPECT_EQ(secondsAtPeak(model, 1), 0);
  model.peak_flops = 10, model.peak_half_flops = 100;
  EXPECT_EQ(secondsAtPeak(model, 1), 3 * (10 + 10));
  EXPECT_EQ(secondsAtPeak(model, 3), 3 * (10 + 10) + 2 * 3 * 10);
}

} // namespace
