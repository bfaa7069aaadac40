//===- Reader.cpp - from the words of a command line to fields ------------===//

#include "cli/Reader.h"

#include <algorithm>

using namespace braid::cli;

namespace {

// Insertions, deletions, replacements and exchanges of neighbours that make one of the
// other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      bool differs = a[i - 1] != b[j - 1];
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

std::string named(const Option &option, std::string_view text) {
  std::string name(option.name);
  if (option.isPositional())
    return name + " '" + std::string(text) + "'";
  return name + (name.starts_with("--") ? "=" : " ") + std::string(text);
}

// An option with a value that is valid, as an example.
std::string example(const Option &option) {
  return option.value.kind == Kind::Flag ? std::string(option.name) : named(option, formOf(option.value));
}

bool isValidFor(const Option &option, std::string_view text) {
  return isValid(option.value, text, option.field.least, option.field.most);
}

std::vector<std::string_view> split(std::string_view text, char between) {
  std::vector<std::string_view> items;
  for (size_t start = 0, end; start <= text.size(); start = end + 1) {
    end = std::min(text.find(between, start), text.size());
    items.push_back(text.substr(start, end - start));
  }
  return items;
}

bool isAmong(std::string_view name, std::string_view names) {
  const std::vector<std::string_view> all = split(names, ' ');
  return std::find(all.begin(), all.end(), name) != all.end();
}

class Reader {
public:
  Reader(const Command &command, const Words &words, std::string_view target)
      : command(command), words(words), target(target) {}

  // The first thing that is wrong.
  std::string check() const {
    if (!words.unknown.empty())
      return sayUnknown();
    for (const auto &[option, text] : words.given)
      if (std::string error = checkValue(*option, text); !error.empty())
        return error;
    for (const Topic &topic : command.topics)
      for (const Option &option : topic.options)
        if (std::string error = isFor(option, target) ? checkBeside(topic, option) : ""; !error.empty())
          return error;
    return {};
  }

private:
  std::string sayUnknown() const {
    std::string_view word = words.unknown.front();
    if (!word.starts_with('-') || word == "-")
      return "unexpected argument '" + std::string(word) + "'";
    std::vector<std::string_view> names{"--help"};
    for (const Topic &topic : command.topics)
      for (const Option &option : topic.options)
        if (isFor(option, target))
          names.push_back(option.name);
    return unknownText("option", word.substr(0, word.find('=')), names);
  }

  // Where programs for another target have the option, or the value.
  std::string sayTarget(const Option &option, const std::string &said) const {
    return said + " applies to programs for " + std::string(option.target) + ", but this one was compiled for " +
           std::string(target) + ": leave it out, or compile with --target=" + std::string(option.target);
  }

  std::string sayInvalid(const Option &option, std::string_view text) const {
    for (const Topic &topic : command.topics)
      for (const Option &other : topic.options)
        if (other.name == option.name && &other != &option && isValidFor(other, text))
          return sayTarget(other, named(option, text));
    return named(option, text) + ": invalid value; expected " +
           expectedText(option.value, option.field.least, option.field.most);
  }

  std::string checkValue(const Option &option, std::string_view text) const {
    const Value &value = option.value;
    std::string name(option.name);
    if (!option.moved.empty())
      return name + " is no option any more: " + std::string(option.moved);
    if (!isFor(option, target))
      return sayTarget(option, name);
    if (value.kind != Kind::List && countOf(option.name) > 1)
      return name + " is given " + std::to_string(countOf(option.name)) + " times: leave all but one out";
    if (text.empty() && value.mayBeAlone)
      return {};
    if (text.empty())
      return name + " has no value: write " + example(option) + ", or leave it out";
    if (value.kind == Kind::List)
      return checkItems(option, text);
    return isValidFor(option, text) ? "" : sayInvalid(option, text);
  }

  std::string checkItems(const Option &option, std::string_view text) const {
    for (std::string_view item : split(text, ',')) {
      if (item.empty())
        return named(option, text) + " has an empty place in its list: leave a comma out";
      if (!isValidFor(option, item))
        return sayInvalid(option, item);
      if (countOfItem(option, item) > 1)
        return std::string(option.name) + " names '" + std::string(item) + "' twice: leave one of them out";
    }
    return {};
  }

  // What the option needs, excludes, or is itself needed for.
  std::string checkBeside(const Topic &topic, const Option &option) const {
    std::string name(option.name);
    if (!words.has(option.name))
      return option.isRequired ? checkRequired(option) : "";
    for (std::string_view needs : {topic.needs, option.needs})
      if (!needs.empty() && needs != option.name && !words.has(needs))
        return name + " needs " + std::string(needs) + ": add " + example(*findOption(command, needs, target)) +
               ", or leave " + name + " out";
    for (const auto &[other, text] : words.given)
      if (isAmong(other->name, option.excludes))
        return name + " and " + std::string(other->name) + " exclude each other: leave one of them out";
    return {};
  }

  std::string checkRequired(const Option &option) const {
    std::string names(option.name);
    for (const Topic &topic : command.topics)
      for (const Option &other : topic.options)
        if (isAmong(option.name, other.excludes)) {
          if (words.has(other.name))
            return {};
          names += " or " + std::string(other.name);
        }
    return "missing " + names + ": " + std::string(option.help);
  }

  long countOf(std::string_view name) const {
    return std::count_if(words.given.begin(), words.given.end(), [&](auto &one) { return one.first->name == name; });
  }

  long countOfItem(const Option &option, std::string_view item) const {
    long count = 0;
    for (const auto &[given, text] : words.given)
      if (given == &option) {
        const std::vector<std::string_view> items = split(text, ',');
        count += std::count(items.begin(), items.end(), item);
      }
    return count;
  }

  const Command &command;
  const Words &words;
  std::string_view target;
};

void store(const Option &option, std::string_view text, void *object) {
  if (option.value.mayBeAlone && text.empty())
    text = option.value.implied;
  if (option.value.kind != Kind::List)
    return option.field.store(object, option.value, text);
  for (std::string_view item : split(text, ','))
    option.field.store(object, option.value, item);
}

} // namespace

const std::string *Words::textOf(std::string_view name) const {
  for (const auto &[option, text] : given)
    if (option->name == name)
      return &text;
  return nullptr;
}

std::string braid::cli::unknownText(std::string_view what, std::string_view word,
                                    std::span<const std::string_view> names) {
  auto farther = [&](std::string_view a, std::string_view b) { return distance(word, a) < distance(word, b); };
  auto nearest = std::min_element(names.begin(), names.end(), farther);
  std::string text = "unknown " + std::string(what) + " '" + std::string(word) + "'";
  if (nearest != names.end() && distance(word, *nearest) <= std::max<size_t>(1, word.size() / 3))
    text += "; did you mean '" + std::string(*nearest) + "'?";
  return text;
}

std::string braid::cli::readOptions(const Command &command, const Words &words, std::string_view target, void *object) {
  if (std::string error = Reader(command, words, target).check(); !error.empty())
    return error;
  for (const Topic &topic : command.topics)
    for (const Option &option : topic.options)
      for (const auto &[given, text] : words.given)
        if (given == &option && option.field.store)
          store(option, text, topic.object(object));
  return {};
}
