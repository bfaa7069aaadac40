//===- Main.cpp - the tests, or one rank of one of them -------------------===//

#include "Ranks.h"

#include <csignal>
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN); // as training binaries do: Gloo writes to connections that strangers close
  if (braid::test::isRankProcess(argc, argv))
    return braid::test::rankMain(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
