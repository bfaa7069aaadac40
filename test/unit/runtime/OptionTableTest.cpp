//===- OptionTableTest.cpp - a table of options, its checks and its help --===//

#include "cli/Help.h"
#include "cli/Reader.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace braid::cli;

namespace {
enum class Level { Low, High };
} // namespace
template <> inline constexpr Word braid::cli::words<Level>[] = {{"low", "less"}, {"high", "more"}};

namespace {

struct Bounded {
  int64_t value = 7;
  operator int64_t() const { return value; }
};

struct Inner {
  double share = 0.25;
};
struct Outer {
  std::string file, folder;
  Inner inner;
  std::optional<int64_t> count;
  uint64_t seed = 1;
  int8_t small = 3;
  Bounded bounded;
  bool quiet = false, fixed = true;
  Level level = Level::High;
  std::vector<std::string> names;
};

constexpr Option kFiles[] = {
    {"FILE", text(""), "What is read", into<&Outer::file>(), required()},
    {"--folder", text("DIR"), "What is read instead", into<&Outer::folder>(), excludes("FILE")},
    {"--names", list("NAMES"), "Some names", into<&Outer::names>()},
    {"--even",
     list(
         "N", [](std::string_view text) { return text == "2" || text == "4" || text == "6"; }, "2, 4 or 6"),
     "Some even numbers", into<&Outer::names>()},
};
constexpr Option kNumbers[] = {
    {"--share", number("X", 0, 1), "A share", into<&Inner::share>()},
};
constexpr Option kOthers[] = {
    {"--count", integer("N", 1, 8), "A count", into<&Outer::count>(), byDefault("as many as there are")},
    {"--seed", integer("N"), "A seed", into<&Outer::seed>()},
    {"--small", integer("N"), "A small number", into<&Outer::small>(), needs("--count")},
    {"--bounded", integer("N", 5, 9), "A number of a type with bounds", into<&Outer::bounded>()},
    {"--quiet", flag(), "Say nothing", into<&Outer::quiet>()},
    {"--fixed", choice({"off", "on"}), "Keep it", into<&Outer::fixed>()},
    {"--level", choice<Level>(), "How much", into<&Outer::level>()},
    {"--gpu", flag(), "On a GPU", into<&Outer::quiet>(), onlyFor("cuda")},
};
constexpr Option kMore[] = {{"--more", flag(), "Read more", into<&Outer::quiet>()}};
constexpr Topic kTopics[] = {
    topic<Outer>("Files", kFiles),
    topic<Outer>("Files", kMore),
    topic<Outer, &Outer::inner>("Numbers", kNumbers),
    topic<Outer>("Others", kOthers),
};
constexpr Command kCommand = {"tool", "Do what is asked", kTopics};

std::string read(std::initializer_list<std::pair<const char *, const char *>> given, Outer &outer,
                 std::vector<std::string> unknown = {}) {
  Words words;
  for (auto [name, text] : given)
    words.given.emplace_back(findOption(kCommand, name, "cpu"), text);
  words.unknown = std::move(unknown);
  return readOptions(kCommand, words, "cpu", &outer);
}

std::string errorOf(std::initializer_list<std::pair<const char *, const char *>> given,
                    std::vector<std::string> unknown = {}) {
  Outer outer;
  return read(given, outer, std::move(unknown));
}

TEST(OptionTable, fillsFieldsOfEveryType) {
  Outer outer;
  EXPECT_EQ(read({{"FILE", "f"},
                  {"--share", "0.5"},
                  {"--count", "8"},
                  {"--seed", "18446744073709551615"},
                  {"--small", "-128"},
                  {"--quiet", ""},
                  {"--fixed", "off"},
                  {"--level", "low"},
                  {"--names", "a,b"},
                  {"--names", "c"}},
                 outer),
            "--small=-128: invalid value; expected an integer from 0 to 127");
  EXPECT_EQ(read({{"FILE", "f"},
                  {"--share", "0.5"},
                  {"--count", "8"},
                  {"--seed", "18446744073709551615"},
                  {"--small", "127"},
                  {"--quiet", ""},
                  {"--fixed", "off"},
                  {"--level", "low"},
                  {"--names", "a,b"},
                  {"--names", "c"}},
                 outer),
            "");
  EXPECT_EQ(outer.file, "f");
  EXPECT_EQ(outer.inner.share, 0.5);
  EXPECT_EQ(outer.count, 8);
  EXPECT_EQ(outer.seed, ~uint64_t{0});
  EXPECT_EQ(outer.small, 127);
  EXPECT_TRUE(outer.quiet);
  EXPECT_FALSE(outer.fixed);
  EXPECT_EQ(outer.level, Level::Low);
  EXPECT_EQ(outer.names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(OptionTable, namesTheOptionTheValueAndWhatIsValid) {
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--count", "9"}}), "--count=9: invalid value; expected an integer from 1 to 8");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--count", "1.5"}}),
            "--count=1.5: invalid value; expected an integer from 1 to 8");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--share", "inf"}}), "--share=inf: invalid value; expected a number from 0 to 1");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--seed", "-1"}}), "--seed=-1: invalid value; expected an integer of at least 0");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--level", "mid"}}), "--level=mid: invalid value; expected low or high");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--quiet", "maybe"}}), "--quiet=maybe: invalid value; expected false or true");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--count", ""}}), "--count has no value: write --count=N, or leave it out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--seed", "1"}, {"--seed", "1"}}),
            "--seed is given 2 times: leave all but one out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--seed", "18446744073709551616"}}),
            "--seed=18446744073709551616: invalid value; expected an integer of at least 0");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--share", "nan"}}), "--share=nan: invalid value; expected a number from 0 to 1");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--share", "1e999"}}),
            "--share=1e999: invalid value; expected a number from 0 to 1");
}

TEST(OptionTable, listsHaveNoEmptyPlaceAndNameNothingTwice) {
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--names", ""}}), "--names has no value: write --names=NAMES, or leave it out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--names", "a,,b"}}),
            "--names=a,,b has an empty item in its list: remove a comma");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--names", "a,b,a"}}), "--names names 'a' twice: leave one of them out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--names", "a,b"}, {"--names", "b"}}),
            "--names names 'b' twice: leave one of them out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--even", "2,4"}}), "");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--even", "2,5"}}), "--even=5: invalid value; expected 2, 4 or 6");
}

TEST(OptionTable, optionsDependOnEachOther) {
  EXPECT_EQ(errorOf({}), "missing FILE or --folder: What is read");
  EXPECT_EQ(errorOf({{"--folder", "d"}}), "");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--folder", "d"}}), "--folder and FILE exclude each other: leave one of them out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--small", "1"}}), "--small needs --count: add --count=N, or leave --small out");
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--gpu", ""}}),
            "--gpu applies to programs for cuda, but this one was compiled for cpu: leave it out, or compile with "
            "--target=cuda");
}

TEST(OptionTable, namesTheNearestOption) {
  EXPECT_EQ(errorOf({}, {"--cuont=3"}), "unknown option '--cuont'; did you mean '--count'?");
  EXPECT_EQ(errorOf({}, {"--leve"}), "unknown option '--leve'; did you mean '--level'?");
  EXPECT_EQ(errorOf({}, {"--frobnicate"}), "unknown option '--frobnicate'");
  EXPECT_EQ(errorOf({}, {"--gpv"}), "unknown option '--gpv'"); // of another target
  EXPECT_EQ(errorOf({{"FILE", "f"}}, {"second"}), "unexpected argument 'second'");
}

TEST(OptionTable, readsWordsOfAnEnum) {
  Outer outer;
  EXPECT_EQ(read({{"FILE", "f"}, {"--level", "low"}, {"--bounded", "9"}}, outer), "");
  EXPECT_EQ(outer.level, Level::Low);
  EXPECT_EQ(outer.bounded.value, 9);
  EXPECT_EQ(errorOf({{"FILE", "f"}, {"--level", "mid"}}), "--level=mid: invalid value; expected low or high");
  EXPECT_EQ(wordOf(Level::High), "high");
  EXPECT_EQ(choiceOf<Level>("high"), Level::High);
  EXPECT_EQ(choiceOf<Level>("mid"), std::nullopt);
}

TEST(OptionTable, topicsOfOneTitleAreOne) {
  std::string help = helpText(kCommand, "tool", ""), page = markdown(kCommand, "tool");
  EXPECT_NE(help.find("  --more                    Read more\n\nNumbers:\n"), std::string::npos) << help;
  EXPECT_EQ(help.find("Files:\n"), help.rfind("Files:\n"));
  EXPECT_EQ(page.find("### Files\n"), page.rfind("### Files\n"));
  EXPECT_NE(page.find("| `--more` | Read more |\n"), std::string::npos) << page;
}

TEST(OptionTable, helpHasTopicsDefaultsAndNoLongLine) {
  std::string help = helpText(kCommand, "tool", "cpu");
  EXPECT_EQ(help.find("usage: tool [OPTION...] FILE\n\nDo what is asked.\n\nFiles:\n"), 0u) << help;
  EXPECT_NE(help.find("  --share=X                 A share (default: 0.25)\n"), std::string::npos) << help;
  EXPECT_NE(help.find("  --fixed=off|on            Keep it (default: on)\n"), std::string::npos) << help;
  EXPECT_NE(help.find("  --level=low|high          How much (default: high)\n"
                      "                            - low: less\n"),
            std::string::npos)
      << help;
  EXPECT_NE(help.find("  --quiet                   Say nothing\n"), std::string::npos) << help;
  EXPECT_EQ(help.find("--gpu"), std::string::npos) << help;
  EXPECT_NE(helpText(kCommand, "tool", "cuda").find("--gpu"), std::string::npos);

  static constexpr Option kLong[] = {
      {"--an-option-with-a-long-name", text("AND-A-LONG-VALUE"),
       "A help of many words, of which each is short, so that lines can end between any two of them, and end early "
       "enough everywhere",
       into<&Outer::file>()}};
  static constexpr Topic kLongTopics[] = {topic<Outer>("Long", kLong)};
  std::istringstream lines(helpText({"tool", "Be long", kLongTopics}, "tool", ""));
  size_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size());
  EXPECT_LE(longest, 80u);
  EXPECT_GT(longest, 70u);
}

TEST(OptionTable, listsWhatTheTableDoesNotKnow) {
  static constexpr Option kShapes[] = {{"--shape", text("NAME"), "A shape", into<&Outer::file>(),
                                        listing([] { return Lines{{"round", "without corners"}}; })}};
  static constexpr Topic kShapeTopics[] = {topic<Outer>("Shapes", kShapes)};
  constexpr Command command = {"tool", "Draw", kShapeTopics};
  std::string help = helpText(command, "tool", ""), page = markdown(command, "tool");
  EXPECT_NE(help.find("A shape\n                            - round: without corners\n"), std::string::npos) << help;
  EXPECT_NE(page.find("| `--shape=NAME` | A shape; `round`: without corners |\n"), std::string::npos) << page;
}

TEST(OptionTable, pageHasEveryTarget) {
  std::string page = markdown(kCommand, "tool");
  EXPECT_EQ(page.find("## `tool`\nDo what is asked.\n"), 0u) << page;
  EXPECT_NE(page.find("| `--level=low\\|high` | How much (default: high); `low`: less; `high`: more |\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("| `--gpu` | On a GPU *(programs for `cuda`)* |\n"), std::string::npos) << page;
}

} // namespace
