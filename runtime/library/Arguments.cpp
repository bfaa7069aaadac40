//===- Arguments.cpp - checks of what a caller passes ----------------------===//

#include "library/Arguments.h"

#include "base/Error.h"
#include "base/Format.h"
#include "launch/Ranks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

using namespace braid;

void braid::checkPointers(const char *function, std::initializer_list<PointerArgument> pointers) {
  for (const PointerArgument &pointer : pointers)
    if (!pointer.value)
      fail(function, ": argument '", pointer.name, "' is null");
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

static constexpr const char *typeNames[] = {"BRAID_F64", "BRAID_F32",  "BRAID_BF16", "BRAID_I32",
                                            "BRAID_I64", "BRAID_BOOL", "BRAID_I8"};
static constexpr const char *extentNames[] = {"BRAID_OWN_PART", "BRAID_WHOLE"};
static_assert(int(BRAID_F64) == int(BR_F64) && int(BRAID_I8) == int(BR_I8) && std::size(typeNames) == BRAID_I8 + 1 &&
              std::size(extentNames) == BRAID_WHOLE + 1);

// Checks that the value is the index of a name.
template <size_t n> static void checkEnumerator(const char *enumeration, int value, const char *const (&names)[n]) {
  if (value >= 0 && value < static_cast<int>(n))
    return;
  std::string valid;
  for (size_t i = 0; i < n; ++i)
    valid += concat(i ? ", " : "", names[i], " (", i, ")");
  fail("there is no ", enumeration, " ", value, "; give one of ", valid);
}

br_dtype braid::checkedType(braid_type type) {
  checkEnumerator("braid_type", static_cast<int>(type), typeNames);
  return static_cast<br_dtype>(type);
}

void braid::checkExtent(braid_extent extent) { checkEnumerator("braid_extent", static_cast<int>(extent), extentNames); }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static void checkRange(const char *name, int32_t value, int32_t most, const char *meaning) {
  if (value < 0 || value > most)
    fail("braid_options.", name, " is ", value, "; give a number from 1 to ", most, ", or 0 for ", meaning);
}

// Checks a rank, or a rank's number on its host, against the number of ranks.
static void checkRank(const char *name, int32_t rank, const char *ranksName, int32_t ranks) {
  if (rank >= 0 && rank < std::max(1, ranks))
    return;
  if (ranks == 0)
    fail("braid_options.", name, " is ", rank, ", but ", ranksName, " is 0; give both, or neither");
  fail("braid_options.", name, " is ", rank, ", but ", ranksName, " is ", ranks, "; give a number from 0 to ",
       ranks - 1);
}

void braid::checkOptions(const braid_options &options) {
  checkRange("ranks", options.ranks, kMaxRanks, "those of the launcher");
  checkRank("rank", options.rank, "ranks", options.ranks);
  if (options.ranks == 0 && options.local_ranks != 0)
    fail("braid_options.local_ranks is ", options.local_ranks, ", but ranks is 0; give both, or neither");
  checkRange("local_ranks", options.local_ranks, options.ranks, "all ranks");
  checkRank("local_rank", options.local_rank, "local_ranks", options.local_ranks);
  checkRange("threads", options.threads, kMaxThreads, "a fair share of the cores");
  checkRange("device", options.device, kMaxDevice + 1, "the rank's number on this host");
  if (!(options.timeout >= 0 && options.timeout <= kMaxTimeout))
    fail("braid_options.timeout is ", formatExact(options.timeout), "; give seconds up to ", formatExact(kMaxTimeout),
         ", or 0 for 300");
}

void braid::checkLearningRate(float rate) {
  if (!std::isfinite(rate) || rate < 0)
    fail("the learning rate is ", formatExact(rate), "; give a finite number that is not negative");
}

void braid::checkKeep(int32_t keep) {
  if (keep < 0)
    fail("braid_save: keep is ", keep, "; give a number of checkpoints, or 0 for all");
}
