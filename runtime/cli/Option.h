//===- Option.h - a command line as a table -------------------------------===//
//
// A command line is a constexpr table: an Option is a row, rows of a topic stand
// together, a Command has topics.  A row says what the option takes, what it is for and
// which field it fills; the help, the checks, the reference page (docs/CommandLine.md) and
// the two libraries that split command lines into words are fed from it.  A new option is
// a row and a field.
//
// Without LLVM and without exceptions: compiler and runtime share it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_OPTION_H
#define BRAID_CLI_OPTION_H

#include "cli/Field.h"

namespace braid::cli {

// Words and what each means.
using Lines = std::vector<std::pair<std::string, std::string>>;

struct Option {
  std::string_view name; // "--zero", "-o"; without dashes that of a word by its position
  Value value;
  std::string_view help; // without a full stop; its default is added
  Field field;
  // What few options have, by the functions below.
  std::string_view fallback, target, needs, excludes, moved;
  Initial initial = nullptr;
  Lines (*lines)() = nullptr;
  bool isRequired = false;

  template <class... Rules>
  constexpr Option(std::string_view name, Value value, std::string_view help, Field field = {}, Rules... rules)
      : name(name), value(value), help(help), field(field) {
    (rules(*this), ...);
  }
  constexpr bool isPositional() const { return !name.starts_with('-'); }
};

// The default in words, where the field's value does not say it.
constexpr auto byDefault(std::string_view words) {
  return [=](Option &option) { option.fallback = words; };
}
// The default is that of another field.
template <auto... Path> constexpr auto defaultOf() {
  return [](Option &option) { option.initial = initially<Path...>; };
}
// What the option takes, where the table cannot list it.
constexpr auto listing(Lines (*lines)()) {
  return [=](Option &option) { option.lines = lines; };
}
// One that excludes it will do, too.
constexpr auto required() {
  return [](Option &option) { option.isRequired = true; };
}
// Only programs for the target have it.
constexpr auto onlyFor(std::string_view target) {
  return [=](Option &option) { option.target = target; };
}
// Without the other it means nothing.
constexpr auto needs(std::string_view other) {
  return [=](Option &option) { option.needs = other; };
}
// It is no option any more: an error says where it went, and no help lists it.
constexpr auto moved(std::string_view where) {
  return [=](Option &option) { option.moved = where; };
}
// It contradicts the others, between which there are spaces.
constexpr auto excludes(std::string_view others) {
  return [=](Option &option) { option.excludes = others; };
}

// Options that stand together; they fill what `object` finds in the command's object.
struct Topic {
  std::string_view title;
  std::span<const Option> options;
  void *(*object)(void *) = nullptr;
  std::string_view needs = {}; // of each option
};

void fieldsOfAnotherStruct(); // not constexpr: to call it is an error of the compiler

// A topic of a command that fills a Root: the options fill the member that the path leads to.
template <class Root, auto... Path, size_t N>
consteval Topic topic(std::string_view title, const Option (&options)[N], std::string_view needs = {}) {
  using Object = std::remove_cvref_t<decltype(memberOf<Path...>(std::declval<Root &>()))>;
  for (const Option &option : options)
    if (!option.field.of.empty() && option.field.of != structName<Object>())
      fieldsOfAnotherStruct();
  return {title, options, [](void *root) -> void * { return &memberOf<Path...>(*static_cast<Root *>(root)); }, needs};
}

// What every command has.
inline constexpr Option kHelpOption = {"--help", choice({"markdown"}).alone(""),
                                       "Print this help; =markdown: as a page"};

// Without options of its own a program is its commands.
struct Command {
  std::string_view name;
  std::string_view summary; // a line
  std::span<const Topic> topics;
  std::string_view more = {}; // paragraphs, and examples behind them
};

// For programs of every target, where a row names none.
inline bool isFor(const Option &option, std::string_view target) {
  if (!option.moved.empty())
    return false;
  return option.target.empty() || target.empty() || option.target == target;
}

// The row of this name, that for the target where there are several; null for none.
inline const Option *findOption(const Command &command, std::string_view name, std::string_view target) {
  const Option *found = nullptr;
  for (const Topic &topic : command.topics)
    for (const Option &option : topic.options)
      if (option.name == name && (!found || (!isFor(*found, target) && isFor(option, target))))
        found = &option;
  return found;
}

} // namespace braid::cli
#endif // BRAID_CLI_OPTION_H
