//===- StartFacts.cpp - facts that all ranks must share -------------------===//

#include "comm/StartFacts.h"

#include "base/Error.h"
#include "comm/Blobs.h"

#include <algorithm>

using namespace braid;

std::string braid::packFacts(const StartFacts &facts) {
  std::vector<std::string> texts;
  for (const auto &[name, value] : facts)
    texts.insert(texts.end(), {name, value});
  return joinBlobs(texts);
}

StartFacts braid::unpackFacts(const std::string &bytes) {
  std::vector<std::string> texts = splitBlobs(bytes);
  if (texts.size() % 2 != 0)
    fail("a rank sent facts that this version does not know; start all ranks with the same binary");
  StartFacts facts;
  for (size_t i = 0; i < texts.size(); i += 2)
    facts.push_back({texts[i], texts[i + 1]});
  return facts;
}

namespace {

// A value and the ranks that have it.
struct FactValue {
  std::string value;
  std::vector<int> ranks;
};

// Formats ranks as "rank 2" or "ranks 0, 2-5".
std::string rankText(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0, end; i < ranks.size(); i = end) {
    for (end = i + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;)
      ++end;
    text += concat(i ? ", " : "", ranks[i]);
    if (end - i > 1)
      text += concat("-", ranks[end - 1]);
  }
  return text;
}

std::vector<FactValue> valuesOfFact(const std::string &name, const std::vector<StartFacts> &ranks) {
  std::vector<FactValue> all;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (const StartFact &fact : ranks[rank]) {
      if (fact.name != name)
        continue;
      auto same = std::find_if(all.begin(), all.end(), [&](const FactValue &one) { return one.value == fact.value; });
      if (same == all.end())
        same = all.insert(same, {fact.value, {}});
      same->ranks.push_back(static_cast<int>(rank));
    }
  return all;
}

} // namespace

std::string braid::differencesOf(const std::vector<StartFacts> &ranks) {
  constexpr size_t maxValues = 4;
  std::vector<std::string> names;
  for (const StartFacts &facts : ranks)
    for (const StartFact &fact : facts)
      if (std::find(names.begin(), names.end(), fact.name) == names.end())
        names.push_back(fact.name);
  std::string text;
  for (const std::string &name : names) {
    std::vector<FactValue> all = valuesOfFact(name, ranks);
    if (all.size() == 1)
      continue;
    text += (text.empty() ? "" : "; ") + name + " is ";
    for (size_t i = 0; i < std::min(all.size(), maxValues); ++i)
      text += concat(i == 0 ? "" : i + 1 == all.size() ? " and " : ", ", all[i].value, " on ", rankText(all[i].ranks));
    if (all.size() > maxValues)
      text += ", ...";
  }
  return text;
}
