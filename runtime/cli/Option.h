//===- Option.h - tables of command-line options --------------------------===//
//
// A command line is a constexpr table: an Option is a row, a Topic groups rows, and a Command has topics. A
// row has the option's valid values, its help and the field that it fills. The help, the checks, the
// reference page (docs/CommandLine.md) and the two libraries that split command lines all use this table. A
// new option is a row and a field.
//
// Uses neither LLVM nor exceptions, because the compiler and the runtime share it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_OPTION_H
#define BRAID_CLI_OPTION_H

#include "cli/Field.h"

namespace braid::cli {

// Words and their meanings.
using Lines = std::vector<std::pair<std::string, std::string>>;

struct Option {
  std::string_view name; // "--zero", "-o"; a name without dashes is positional
  Value value;
  std::string_view help; // without a full stop; the default is appended
  Field field;
  // Rare properties, set by the functions below.
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

// Sets the text of the default, if the field's value does not show it.
constexpr auto byDefault(std::string_view words) {
  return [=](Option &option) { option.fallback = words; };
}
// Uses the value of another field as the default.
template <auto... Path> constexpr auto defaultOf() {
  return [](Option &option) { option.initial = initially<Path...>; };
}
// Lists the valid values, if the table cannot.
constexpr auto listing(Lines (*lines)()) {
  return [=](Option &option) { option.lines = lines; };
}
// Makes the option required, unless an option that excludes it is given.
constexpr auto required() {
  return [](Option &option) { option.isRequired = true; };
}
// Limits the option to programs for the target.
constexpr auto onlyFor(std::string_view target) {
  return [=](Option &option) { option.target = target; };
}
// Marks the option as useless without another option.
constexpr auto needs(std::string_view other) {
  return [=](Option &option) { option.needs = other; };
}
// Marks a removed option: an error says where it went, and no help lists it.
constexpr auto moved(std::string_view where) {
  return [=](Option &option) { option.moved = where; };
}
// Marks the option as contradicting the others, which are separated by spaces.
constexpr auto excludes(std::string_view others) {
  return [=](Option &option) { option.excludes = others; };
}

// A group of options; they fill the object that `object` finds in the command's object. Consecutive groups with one
// title are one topic of the help.
struct Topic {
  std::string_view title;
  std::span<const Option> options;
  void *(*object)(void *) = nullptr;
  std::string_view needs = {}; // needed by each option
};

void fieldsOfAnotherStruct(); // not constexpr: a call is a compile error

// Returns a topic for a command that fills a Root: its options fill the member at the path.
template <class Root, auto... Path>
consteval Topic topic(std::string_view title, std::span<const Option> options, std::string_view needs = {}) {
  using Object = std::remove_cvref_t<decltype(memberOf<Path...>(std::declval<Root &>()))>;
  for (const Option &option : options)
    if (!option.field.of.empty() && option.field.of != structName<Object>())
      fieldsOfAnotherStruct();
  return {title, options, [](void *root) -> void * { return &memberOf<Path...>(*static_cast<Root *>(root)); }, needs};
}

// Every command has this option.
inline constexpr Option kHelpOption = {"--help", choice({"markdown"}).alone(""),
                                       "Print this help; =markdown: as a page"};

// A program without its own options consists of its commands.
struct Command {
  std::string_view name;
  std::string_view summary; // one line
  std::span<const Topic> topics;
  std::string_view more = {}; // paragraphs, followed by examples
};

// Whether programs for `target` have the option; a row without a target applies to all.
inline bool isFor(const Option &option, std::string_view target) {
  if (!option.moved.empty())
    return false;
  return option.target.empty() || target.empty() || option.target == target;
}

// Returns the row with this name, preferably the one for the target; null if there is none.
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
