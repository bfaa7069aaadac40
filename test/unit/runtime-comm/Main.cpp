//===- Main.cpp - the tests, or one rank of one of them -------------------===//

#include "Ranks.h"

#include <gtest/gtest.h>

int main(int argc, char **argv) {
  if (braid::test::isRankProcess(argc, argv))
    return braid::test::rankMain(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
