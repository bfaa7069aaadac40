//===- Reader.cpp - read a command line into fields -----------------------===//

#include "cli/Reader.h"

#include "cli/Elsewhere.h"
#include "cli/Names.h"

#include <algorithm>

using namespace braid::cli;

namespace {

std::string named(const Option &option, std::string_view text) {
  std::string name(option.name);
  if (option.isPositional())
    return name + " '" + std::string(text) + "'";
  return name + (name.starts_with("--") ? "=" : " ") + std::string(text);
}

// Returns the option with a valid value, as an example.
std::string example(const Option &option) {
  return option.value.kind == Kind::Flag ? std::string(option.name) : named(option, formOf(option.value));
}

bool isValidFor(const Option &option, std::string_view text) {
  return isValid(option.value, text, option.field.min, option.field.max);
}

class Reader {
public:
  Reader(const Command &command, const Words &words, std::string_view target)
      : command(command), words(words), target(target) {}

  // Returns the first error; empty if there is none.
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
    const std::string_view name = word.substr(0, word.find('='));
    const Caller caller{command.name, target.empty(), [&](std::string_view other) {
                          const Option *option = findOption(command, other, target);
                          return option && isFor(*option, target);
                        }};
    if (std::string elsewhere = optionElsewhere(caller, name); !elsewhere.empty())
      return elsewhere;
    std::vector<std::string_view> names{"--help"};
    for (const Topic &topic : command.topics)
      for (const Option &option : topic.options)
        if (isFor(option, target))
          names.push_back(option.name);
    const std::string text = unknownText("option", name, names);
    const std::string other = nearestTo(name, names).empty() ? misspelledOptionElsewhere(caller, name) : "";
    return other.empty() ? text : text + "; did you mean " + other + "?";
  }

  // Returns the message for an option or a value that only programs for another target have.
  std::string sayTarget(const Option &option, const std::string &argument) const {
    return argument + " applies to programs for " + std::string(option.target) + ", but this one was compiled for " +
           std::string(target) + ": leave it out, or compile with --target=" + std::string(option.target);
  }

  std::string sayInvalid(const Option &option, std::string_view text) const {
    for (const Topic &topic : command.topics)
      for (const Option &other : topic.options)
        if (other.name == option.name && &other != &option && isValidFor(other, text))
          return sayTarget(other, named(option, text));
    return named(option, text) + ": invalid value; expected " +
           expectedText(option.value, option.field.min, option.field.max);
  }

  std::string checkValue(const Option &option, std::string_view text) const {
    const Value &value = option.value;
    std::string name(option.name);
    if (!option.moved.empty())
      return name + " is no longer an option: " + std::string(option.moved);
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
        return named(option, text) + " has an empty item in its list: remove a comma";
      if (!isValidFor(option, item))
        return sayInvalid(option, item);
      if (countOfItem(option, item) > 1)
        return std::string(option.name) + " names '" + std::string(item) + "' twice: leave one of them out";
    }
    return {};
  }

  // Checks the option beside others: required or needed options are given, and excluded options are not.
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
  const std::string_view meant = nearestTo(word, names);
  return "unknown " + std::string(what) + " '" + std::string(word) + "'" +
         (meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?");
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
